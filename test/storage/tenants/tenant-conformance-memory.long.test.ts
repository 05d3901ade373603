import { describe, it } from 'vitest';
import { runStorageConformance } from '../../../src/storage/testing/index.js';
import { memoryTarget, tenantTarget } from '../conformance-targets.js';

runStorageConformance({ describe, it }, tenantTarget(memoryTarget()));
