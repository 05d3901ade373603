/** A backend that is made to fail keeps the contract as long as it is not. The others: `faulty-conformance.long.test.ts`. */
import { describe, it } from 'vitest';
import { runStorageConformance } from '../../src/storage/testing/index.js';
import { memoryTarget } from './conformance-targets.js';
import { faultyTarget } from './faulty-target.js';

runStorageConformance({ describe, it }, faultyTarget(memoryTarget()));
