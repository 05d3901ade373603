import { memoryPlace } from './memory-kit.js';
import { memoryUnderFaults } from './memory-under-faults.js';

memoryUnderFaults('a store in memory', async () => memoryPlace());
