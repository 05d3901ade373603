import { describe, it } from 'vitest';
import { runStorageConformance } from '../../../src/storage/testing/conformance.js';
import { memoryTarget } from '../conformance-targets.js';
import { sealed } from './sealed-target.js';

runStorageConformance({ describe, it }, sealed(memoryTarget()));
