/** As `faulty-conformance.test.ts`, over the backends that take longer. */
import { describe, it } from 'vitest';
import { runStorageConformance } from '../../src/storage/testing/index.js';
import { fileTarget, sqliteTarget } from './conformance-targets.js';
import { faultyTarget } from './faulty-target.js';

runStorageConformance({ describe, it }, faultyTarget(fileTarget('FileStorage')));
runStorageConformance({ describe, it }, faultyTarget(sqliteTarget()));
