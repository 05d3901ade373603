/** What a fault of the storage does, over memory. Over real stores: `fault-conformance.long.test.ts`. */
import { describe, it } from 'vitest';
import { runFaultConformance } from '../../src/storage/testing/index.js';
import { memoryTarget } from './conformance-targets.js';

runFaultConformance({ describe, it }, memoryTarget());
