import { describe, it } from 'vitest';
import { runStorageConformance } from '../../../src/storage/testing/conformance.js';
import { fileTarget, memoryTarget, sqliteTarget } from '../conformance-targets.js';
import { sealed } from './sealed-target.js';

runStorageConformance({ describe, it }, sealed(memoryTarget()));
runStorageConformance({ describe, it }, sealed(fileTarget('FileStorage')));
runStorageConformance({ describe, it }, sealed(sqliteTarget()));
