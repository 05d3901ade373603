/**
 * Random histories through every way in: npm run test:ways-in -- --count 50000 --seed 7 --jobs 2
 *
 *     npx tsx test/ways-in/run.ts --way 'import anthropic' --way reset --count 5000
 *     npx tsx test/ways-in/run.ts --only 'import anthropic:17' --seed 7
 *
 * `--count` is for each way; without `--way`, formats of programs take a part of it. What was brought in, restored, has to be the
 * repaired original; it is restored again without a repair, and every provider takes a request of it. Ends with 1, the smallest history that fails, and a command that repeats it.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CHUNK_RUNS, type Chunk, type ChunkReport, runChunk } from './campaign.js';
import { WAYS, wayNamed } from './ways.js';
import type { Share, WorkerMessage } from './worker.js';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '50000' },
    seed: { type: 'string', default: process.env['REKINDLE_SEED'] ?? '1' },
    jobs: { type: 'string', default: '2' },
    way: { type: 'string', multiple: true },
    only: { type: 'string' },
  },
});
const seed = Number(values.seed);
const HISTORY_SHOWN_MAX = 4_000;

interface Tally {
  runs: number;
  accepted: number;
  refused: number;
  milliseconds: number;
  failed: number;
}

const tallies = new Map<string, Tally>();
const shown = new Set<string>();

function note(chunk: Chunk, { way, runs, verdicts, milliseconds, finding }: ChunkReport): void {
  const tally = tallies.get(way) ?? { runs: 0, accepted: 0, refused: 0, milliseconds: 0, failed: 0 };
  tallies.set(way, tally);
  tally.runs += runs;
  tally.accepted += verdicts.accepted;
  tally.refused += verdicts.refused;
  tally.milliseconds += milliseconds;
  if (!finding) return;
  tally.failed += 1;
  if (shown.has(way)) return; // once for each way
  shown.add(way);
  console.log(`\nFOUND in ${way}: ${finding.problem.split('\n').slice(0, 6).join('\n')}`);
  console.log(`  history: ${finding.history.slice(0, HISTORY_SHOWN_MAX)}`);
  console.log(`  again: npx tsx test/ways-in/run.ts --only '${way}:${chunk.number}' --seed ${seed}`);
}

/** Each way has its chunks; the ways take turns, so that a run that is stopped has tried all of them. */
function chunksOf(count: number): Chunk[] {
  const ways = values.way
    ? values.way.map((name) => ({ name: wayNamed(name).name, total: count }))
    : WAYS.map(({ name, share = 1 }) => ({ name, total: Math.ceil(count * share) }));
  const chunks: Chunk[] = [];
  for (let number = 0; number * CHUNK_RUNS < count; number += 1) {
    for (const { name, total } of ways) {
      const runs = Math.min(CHUNK_RUNS, total - number * CHUNK_RUNS);
      if (runs > 0) chunks.push({ way: name, number, runs });
    }
  }
  return chunks;
}

function work(share: Share): Promise<void> {
  const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)));
  child.on('message', ({ chunk, report }: WorkerMessage) => note(chunk, report));
  child.send(share);
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      if (code !== 0) {
        console.log(`\nFOUND: a process ended with ${code ?? 'a signal'}`);
        process.exitCode = 1;
      }
      resolve();
    });
  });
}

async function all(): Promise<void> {
  const chunks = chunksOf(Number(values.count));
  const jobs = Math.max(1, Number(values.jobs));
  const shares = Array.from({ length: jobs }, (_, job) =>
    chunks.filter((_chunk, index) => index % jobs === job),
  );
  await Promise.all(shares.map((share) => work({ seed, chunks: share })));
}

async function only(place: string): Promise<void> {
  const at = place.lastIndexOf(':');
  const chunk = { way: place.slice(0, at), number: Number(place.slice(at + 1)), runs: CHUNK_RUNS };
  note(chunk, await runChunk(seed, chunk));
}

const start = performance.now();
await (values.only === undefined ? all() : only(values.only));
let total = 0;
let failed = 0;
for (const [way, tally] of tallies) {
  total += tally.runs;
  failed += tally.failed;
  const each = (tally.milliseconds / Math.max(1, tally.runs)).toFixed(1);
  console.log(
    `  ${way.padEnd(24)} ${tally.runs} histories, ${tally.accepted} accepted, ${tally.refused} refused, ${each} ms each${tally.failed > 0 ? `, ${tally.failed} chunks FAILED` : ''}`,
  );
}
const seconds = ((performance.now() - start) / 1_000).toFixed(1);
console.log(`ways in: ${seconds} s; seed ${seed}; ${total} histories, ${failed} failures`);
if (failed > 0) process.exitCode = 1;
