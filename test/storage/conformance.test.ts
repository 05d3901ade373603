import { describe, it } from 'vitest';
import { runStorageConformance } from '../../src/storage/testing/index.js';
import { fileTarget, memoryTarget } from './conformance-targets.js';

runStorageConformance({ describe, it }, memoryTarget());
runStorageConformance({ describe, it }, fileTarget('FileStorage'));
