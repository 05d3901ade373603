/** As `fault-conformance.test.ts`, over stores that outlive the process. */
import { describe, it } from 'vitest';
import { runFaultConformance } from '../../src/storage/testing/index.js';
import { fileTarget, postgresTarget, sqliteTarget } from './conformance-targets.js';

runFaultConformance({ describe, it }, fileTarget('FileStorage', { durability: 'relaxed' }));
runFaultConformance({ describe, it }, sqliteTarget());
const postgres = postgresTarget();
if (postgres) runFaultConformance({ describe, it }, postgres);
