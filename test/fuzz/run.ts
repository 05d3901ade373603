/**
 * Gives every way in from outside inputs that nobody would write:
 *
 *     npx tsx test/fuzz/run.ts --inputs 1000000 --seed 7 --jobs 2
 *     npx tsx test/fuzz/run.ts --target transcripts --inputs 20000 --seed 7
 *     npx tsx test/fuzz/run.ts --only transcripts:4711 --seed 7
 *
 * For each input: only a RekindleError may be thrown, nothing may take longer than a second, no shared object may change, no rejection may
 * go unhandled, and what was accepted must survive. Ends with 1 and a command that repeats each finding. The same seed gives the same inputs.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Finding, Fuzzer, type TargetTally } from './fuzzer.js';
import { TARGETS } from './targets/all.js';
import type { Share, WorkerMessage } from './worker.js';

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: process.env['REKINDLE_SEED'] ?? '1' },
    jobs: { type: 'string', default: '2' },
    target: { type: 'string', multiple: true },
    only: { type: 'string' },
  },
});
const seed = Number(values.seed);
const jobs = Number(values.jobs);
/** No input may hold a process for so long; it is looked at this often. */
const HANG_MS = 20_000;
const SHOWN_MAX = 600;
const FINDINGS_SHOWN = 20;

const kinds = new Map<string, number>();
const tallies = new Map<string, TargetTally>();

/** Once for each kind of problem. */
function show({ target, index, problem, input }: Finding): void {
  const kind = `${target} ${problem.split('\n').slice(0, 2).join(' ').slice(0, 160)}`;
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  if (kinds.get(kind)! > 1 || kinds.size > FINDINGS_SHOWN) return;
  console.log(`\nFOUND in ${target}: ${problem.split('\n').slice(0, 6).join('\n')}`);
  console.log(
    `  input: ${JSON.stringify(input.slice(0, SHOWN_MAX))}${input.length > SHOWN_MAX ? ` and ${input.length - SHOWN_MAX} more` : ''}`,
  );
  console.log(`  again: npx tsx test/fuzz/run.ts --only ${target}:${index} --seed ${seed}`);
}

function countsFor(total: number): Record<string, number> {
  const chosen = TARGETS.filter(({ name }) => !values.target || values.target.includes(name));
  const parts = chosen.reduce((sum, { weight }) => sum + weight, 0);
  return Object.fromEntries(chosen.map(({ name, weight }) => [name, Math.ceil((total * weight) / parts)]));
}

function add(tally: TargetTally): void {
  const known = tallies.get(tally.target);
  if (!known) tallies.set(tally.target, tally);
  else {
    known.inputs += tally.inputs;
    known.accepted += tally.accepted;
    known.milliseconds += tally.milliseconds;
  }
}

function work(folder: string, first: number, inputs: Record<string, number>): Promise<void> {
  const place = path.join(folder, `place-${first}`);
  const share: Share = { seed, first, step: jobs, inputs, place };
  const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [JSON.stringify(share)]);
  child.on('message', (message: WorkerMessage) =>
    message.kind === 'finding' ? show(message.finding) : add(message.tally),
  );
  const watch = watchFor(child, place);
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      clearInterval(watch);
      if (code !== 0)
        show({ ...placeOf(place), problem: `the process ended with ${code ?? 'a signal'}`, input: '' });
      resolve();
    });
  });
}

/** Stops a process that stays at one input. */
function watchFor(child: ChildProcess, place: string): NodeJS.Timeout {
  let last = '';
  return setInterval(() => {
    const now = textOf(place);
    if (now !== '' && now === last) child.kill('SIGKILL');
    last = now;
  }, HANG_MS);
}

function textOf(place: string): string {
  try {
    return readFileSync(place, 'utf8').trim();
  } catch {
    return '';
  }
}

function placeOf(place: string): { readonly target: string; readonly index: number } {
  const [target = '', index] = textOf(place).split(':');
  return { target, index: Number(index) };
}

async function all(): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rekindle-fuzz-'));
  const inputs = countsFor(Number(values.inputs));
  await Promise.all(Array.from({ length: jobs }, (_, first) => work(folder, first, inputs)));
  rmSync(folder, { recursive: true, force: true });
}

async function only(place: string): Promise<void> {
  const [name, index] = place.split(':');
  const target = TARGETS.find((candidate) => candidate.name === name);
  if (!target)
    throw new RangeError(`no such target: ${name}; there are ${TARGETS.map((one) => one.name).join(', ')}`);
  add(await new Fuzzer(seed, show).run(target, [Number(index)]));
}

const start = performance.now();
await (values.only === undefined ? all() : only(values.only));
let total = 0;
for (const { target, inputs, accepted, milliseconds } of tallies.values()) {
  total += inputs;
  const each = ((1_000 * milliseconds) / Math.max(1, inputs)).toFixed(0);
  console.log(`  ${target.padEnd(14)} ${inputs} inputs, ${accepted} accepted, ${each} µs each`);
}
for (const [kind, count] of kinds) console.log(`  ${count} times: ${kind}`);
const found = [...kinds.values()].reduce((sum, count) => sum + count, 0);
console.log(
  `fuzz: ${((performance.now() - start) / 1_000).toFixed(1)} s; seed ${seed}; ${total - found} passed, ${found} failed`,
);
process.exit(found === 0 ? 0 : 1);
