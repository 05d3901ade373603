/**
 * Plants harmful changes into a private copy of the source, one at a time, and looks whether the tests that must catch each do:
 *
 *     npx tsx test/mutants/run.ts --share 1/8 --seed 7 --jobs 2
 *     npx tsx test/mutants/run.ts --only journal-no-cut-back
 *     npx tsx test/mutants/run.ts --check
 *
 * `--share N/M` takes the N-th of M shares, as the seed deals them out; `--check` looks only whether the list is true: each text is
 * there once. The last line has the counts: caught mutants have passed. Ends with 1 when one survived, or the list is not true.
 */
import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { postgresMissing, startPostgres } from '../support/postgres-cluster.js';
import { MUTANTS } from './all.js';
import { judge } from './judge.js';
import type { Mutant } from './mutant.js';
import { PrivateTree, staleAmong } from './tree.js';

const { values } = parseArgs({
  options: {
    share: { type: 'string', default: '1/1' },
    seed: { type: 'string', default: process.env['REKINDLE_SEED'] ?? '1' },
    only: { type: 'string', multiple: true },
    jobs: { type: 'string', default: '1' },
    check: { type: 'boolean', default: false },
  },
});

/** A place by name and seed: a new change moves no other one to another share. */
function rankOf({ id }: Mutant, seed: string): number {
  return createHash('sha256').update(`${seed} ${id}`).digest().readUInt32BE(0);
}

function chosen(): Mutant[] {
  const { only } = values;
  if (only) return MUTANTS.filter(({ id }) => only.includes(id));
  const [share, shares] = values.share.split('/').map(Number) as [number, number];
  return MUTANTS.map((mutant) => ({ mutant, rank: rankOf(mutant, values.seed) }))
    .filter(({ rank }) => rank % shares === share - 1)
    .sort((a, b) => a.rank - b.rank)
    .map(({ mutant }) => mutant);
}

async function withPostgres(mutants: readonly Mutant[], run: () => Promise<void>): Promise<void> {
  const isNeeded = mutants.some(({ caughtBy }) => caughtBy.some((name) => name.includes('postgres')));
  if (!isNeeded || process.env['REKINDLE_TEST_POSTGRES']) return run();
  const cluster = await startPostgres();
  if (cluster) process.env['REKINDLE_TEST_POSTGRES'] = cluster.url;
  try {
    await run();
  } finally {
    await cluster?.stop();
  }
}

const ids = new Set(MUTANTS.map(({ id }) => id));
if (ids.size !== MUTANTS.length) throw new RangeError('two mutants have the same id');
const stale = await staleAmong(MUTANTS);
for (const { why } of stale) console.log(`stale     ${why}`);
const counts = { caught: 0, survived: 0, broken: 0, skipped: 0 };

async function work(queue: Mutant[]): Promise<void> {
  const tree = await PrivateTree.make();
  try {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const start = performance.now();
      const isMissing = mutant.caughtBy.some((name) => name.includes('postgres')) && noPostgres;
      const verdict = isMissing ? 'skipped' : await judge(tree, mutant);
      counts[verdict] += 1;
      const seconds = ((performance.now() - start) / 1_000).toFixed(1);
      console.log(
        `${verdict.padEnd(9)} ${mutant.id} (${seconds} s)${verdict === 'survived' ? `: ${mutant.file}` : ''}`,
      );
    }
  } finally {
    await tree.remove();
  }
}

let noPostgres = false;
if (!values.check) {
  const outdated = new Set(stale.map(({ mutant }) => mutant));
  const queue = chosen().filter((mutant) => !outdated.has(mutant));
  console.log(`${queue.length} of ${MUTANTS.length} mutants, seed ${values.seed}`);
  await withPostgres(queue, async () => {
    noPostgres = !process.env['REKINDLE_TEST_POSTGRES'];
    await Promise.all(Array.from({ length: Number(values.jobs) }, () => work(queue)));
  });
  if (counts.skipped > 0) console.log(postgresMissing());
}
const failed = counts.survived + counts.broken + stale.length;
console.log(
  values.check
    ? `${MUTANTS.length - stale.length} passed, ${stale.length} failed`
    : `${counts.caught} passed, ${failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`,
);
process.exitCode = failed === 0 ? 0 : 1;
