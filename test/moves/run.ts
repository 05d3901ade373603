/**
 * Moves an agent between two hosts that share one PostgreSQL, as often as it is told to:
 *
 *     tsx test/moves/run.ts --count 100 --seed 7 [--namespaces]
 *
 * Prints a line for each move and, last, the counts. Ends with 1 when something happened that must not.
 */
import { parseArgs } from 'node:util';
import { postgresMissing, startPostgres } from '../support/postgres-cluster.js';
import { LEASE_TTL_MS } from './agent-moves.js';
import { type MovesOptions, runMoves } from './moves.js';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: process.env['REKINDLE_SEED'] ?? String(Date.now() % 2 ** 31) },
    namespaces: { type: 'boolean', default: false },
    plant: { type: 'string' },
  },
});

process.env['REKINDLE_EMBEDDED_POSTGRES'] ??= '1'; // where none is installed
const cluster = await startPostgres();
if (!cluster) {
  console.error(postgresMissing());
  process.exit(2);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)); // ends its hosts

const seed = Number(values.seed);
const count = Number(values.count);
const between = values.namespaces ? 'two network namespaces' : 'two processes, a proxy in front of each';
console.log(`moves: ${count} between ${between}; REKINDLE_SEED=${seed}; a lease lives ${LEASE_TTL_MS} ms`);
const start = performance.now();
try {
  const planted: Partial<MovesOptions> = values.plant === 'no-fence' ? { plant: 'no-fence' } : {};
  const log = (line: string) => console.log(`  ${line}`);
  const report = await runMoves(cluster, { count, seed, namespaces: values.namespaces, log, ...planted });
  for (const violation of report.violations) console.log(`  VIOLATION ${violation}`);
  for (const [name, amount] of Object.entries(report.counts)) console.log(`  ${name}: ${amount}`);
  const { p50, p99, max } = report.restoreMs;
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  const verdict = report.violations.length === 0 ? 'ok' : 'FAILED';
  console.log(
    `moves: ${verdict} in ${seconds} s; seed ${seed}; restored after p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`,
  );
  process.exitCode = report.violations.length === 0 ? 0 : 1;
} finally {
  await cluster.stop();
}
