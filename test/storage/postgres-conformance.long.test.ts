import { describe, it } from 'vitest';
import { runStorageConformance } from '../../src/storage/testing/index.js';
import { postgresMissing } from '../support/postgres-cluster.js';
import { postgresTarget } from './conformance-targets.js';

const target = postgresTarget();

if (target) runStorageConformance({ describe, it }, target);
else it.skip(postgresMissing(), () => {});
