import { describe, it } from 'vitest';
import { runStorageConformance } from '../../../src/storage/testing/index.js';
import { fileTarget, sqliteTarget, tenantTarget } from '../conformance-targets.js';

runStorageConformance({ describe, it }, tenantTarget(fileTarget('FileStorage')));
runStorageConformance({ describe, it }, tenantTarget(sqliteTarget()));
