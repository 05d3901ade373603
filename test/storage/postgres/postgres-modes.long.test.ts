/** The contract without what only PostgreSQL itself has: as behind a pooler, or on an engine that speaks its protocol. */
import { describe, it } from 'vitest';
import { runStorageConformance } from '../../../src/storage/testing/index.js';
import { postgresMissing } from '../../support/postgres-cluster.js';
import { postgresTarget } from '../conformance-targets.js';

const target = postgresTarget({ partitions: 0, prepare: false, notify: false, unsyncedCommits: false });

if (target) {
  const name = 'PostgresStorage without partitions, prepared statements, notifications and unsynced commits';
  runStorageConformance({ describe, it }, { ...target, name });
} else it.skip(postgresMissing(), () => {});
