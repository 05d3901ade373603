/**
 * Runs the check to its full length:
 *
 *     tsx test/linearizability/run.ts --operations 20000 --seed 20261127
 *     tsx test/linearizability/run.ts --counters 1000 --storage sqlite
 *
 * Prints progress and, last, one line with the counts. Ends with 1 when something happened that must not.
 */
import { parseArgs } from 'node:util';
import buildCli from '../support/build-cli.js';
import { STORAGE_KINDS } from '../support/store-places.js';
import { BUGS } from './client-plan.js';
import { runCounters } from './counters.js';
import { runHistories } from './run-histories.js';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    clients: { type: 'string', default: '8' },
    counters: { type: 'string' },
    bug: { type: 'string' },
    storage: { type: 'string', default: 'file' },
    'no-build': { type: 'boolean', default: false },
  },
});

const seconds = (since: number) => ((performance.now() - since) / 1_000).toFixed(1);
const clients = Number(values.clients);
const storage = STORAGE_KINDS.find((kind) => kind === values.storage);
if (!storage) {
  console.error(`--storage takes ${STORAGE_KINDS.join(', ')}`);
  process.exit(2);
}
const store = { storage };

async function counters(times: number): Promise<boolean> {
  const start = performance.now();
  const { value, version, conflicts, failures } = await runCounters({ clients, times, ...store });
  for (const failure of failures) console.log(`  VIOLATION ${failure}`);
  const wanted = clients * times;
  const isFine = failures.length === 0 && value === wanted && version === wanted;
  const counts = `${clients} processes, ${value} of ${wanted} counted, version ${version}, ${conflicts} conflicts`;
  console.log(`counters: ${isFine ? 'ok' : 'FAILED'} in ${seconds(start)} s; ${counts}`);
  return isFine;
}

async function histories(): Promise<boolean> {
  const start = performance.now();
  const seed = Number(values.seed);
  const operations = Number(values.operations);
  const bug = BUGS.find((name) => name === values.bug);
  console.log(`histories: ${operations} operations on ${values.storage}, seed ${seed}`);
  const onNote = (note: string) => console.log(`  ${note}`);
  const options = { ...store, operations, seed, clients, onNote, ...(bug === undefined ? {} : { bug }) };
  const { violations, errors, ...numbers } = await runHistories(options);
  for (const violation of violations) console.log(`  VIOLATION ${violation}`);
  const counts = [...Object.entries(numbers), ...Object.entries(errors)].map(([name, n]) => `${name} ${n}`);
  const verdict = violations.length === 0 ? 'ok' : 'FAILED';
  console.log(`histories: ${verdict} in ${seconds(start)} s; seed ${seed}; ${counts.join(', ')}`);
  return violations.length === 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)); // ends its clients
if (!values['no-build']) buildCli();
const isFine = values.counters === undefined ? await histories() : await counters(Number(values.counters));
process.exitCode = isFine ? 0 : 1;
