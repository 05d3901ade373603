/**
 * Tampers with checkpoints, each time in another way, and looks what is made of it:
 *
 *     npx tsx test/tampering/run.ts --count 100000 --seed 7 --jobs 2
 *     npx tsx test/tampering/run.ts --seed 7 --only 4711
 *
 * Prints a table by kind, and ends with 1 when something was read that was not saved, or a change went untold. The same seed gives the
 * same mutations; keys and nonces are new in each run. `--contents-only` asks for nothing but contents, for a library whose codes of
 * records are not checked; `--sealed-only` leaves sessions alone that are not encrypted; `--kind` names the kinds that are tried;
 * `--bit-rot` flips bits under a service that runs, in place of tampering with one that is at rest;
 * `--stop-early` ends at the first violation, `--jobs 0` starts no other process. To repeat one takes the same of these as before.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bitRot } from './bit-rot.js';
import { type Attempt, Campaign, type CampaignOptions, indicesOf } from './campaign.js';
import { makeStores } from './stores.js';
import { Tally } from './tally.js';
import type { Share } from './worker.js';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    seed: { type: 'string', default: process.env['REKINDLE_SEED'] ?? '1' },
    jobs: { type: 'string', default: '2' },
    only: { type: 'string' },
    'contents-only': { type: 'boolean', default: false },
    'sealed-only': { type: 'boolean', default: false },
    kind: { type: 'string', multiple: true },
    'stop-early': { type: 'boolean', default: false },
    'bit-rot': { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const options: CampaignOptions = {
  seed,
  contentsOnly: values['contents-only'],
  sealedOnly: values['sealed-only'],
  ...(values.kind ? { kinds: values.kind } : {}),
};
const tally = new Tally();
const start = performance.now();

async function share(first: number, step: number, children: ChildProcess[]): Promise<void> {
  const job: Share = { ...options, first, step, count: Number(values.count) };
  const worker = fileURLToPath(new URL('./worker.ts', import.meta.url));
  // What a mutation makes lives no longer than it: room for the young saves a tenth of the time.
  const execArgv = [...process.execArgv, '--max-semi-space-size=64'];
  const child = fork(worker, [JSON.stringify(job)], { execArgv });
  children.push(child);
  child.on('message', (batch) => {
    for (const attempt of batch as Attempt[]) tally.add(attempt);
    if (values['stop-early'] && tally.violations.length > 0) for (const one of children) one.kill();
  });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  const stopped = values['stop-early'] && tally.violations.length > 0;
  if (code !== 0 && !stopped) tally.violations.push(`a worker ended with ${code}; --seed ${seed}`);
}

if (values['bit-rot']) {
  const first = Number(values.only ?? 0);
  const end = values.only === undefined ? Number(values.count) : first + 1;
  for (const index of indicesOf(first, 1, end)) {
    tally.add(await bitRot(seed, index));
    if (values['stop-early'] && tally.violations.length > 0) break;
  }
} else if (values.only !== undefined) {
  const campaign = new Campaign(await makeStores(), options);
  tally.add(await campaign.attempt(Number(values.only)));
} else if (Number(values.jobs) < 1) {
  const campaign = new Campaign(await makeStores(), options);
  for await (const attempt of campaign.attempts(indicesOf(0, 1, Number(values.count)))) {
    tally.add(attempt);
    if (values['stop-early'] && tally.violations.length > 0) break;
  }
} else {
  const jobs = Number(values.jobs);
  const children: ChildProcess[] = [];
  await Promise.all(Array.from({ length: jobs }, (_, index) => share(index, jobs, children)));
}

console.log(tally.table);
for (const text of tally.shown) console.log(`VIOLATION ${text}`);
const seconds = ((performance.now() - start) / 1_000).toFixed(1);
console.log(
  `tampering: ${tally.violations.length === 0 ? 'ok' : 'FAILED'}: ${tally.tried} mutations in ${seconds} s; seed ${seed}`,
);
process.exitCode = tally.violations.length === 0 ? 0 : 1;
