/**
 * Explores crash states until enough were checked.
 *
 *     npx tsx test/crash/run.ts --states 2000000 --seed 1 --jobs 2
 *     npx tsx test/crash/run.ts --workload rotation --sequence 'append,!kill,archive' --seed 1 [--all-points]
 *
 * Prints a line for each workload, and exits with 1 and a replay command at the first violation (`--keep-going`: all,
 * one of each kind). The same seed gives the same sequences and states.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Progress, replayOptions } from './campaign.js';
import { exploreSequence, type ViolationReport } from './explorer.js';
import { SeenStates } from './seen-states.js';
import type { Job, JobMessage } from './worker.js';
import { workloads } from './workloads/all.js';

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: '2000000' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
    workload: { type: 'string', multiple: true },
    sequence: { type: 'string' },
    'all-points': { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
  },
});

const seed = Number(values.seed);
const chosen = workloads.filter(({ name }) => !values.workload || values.workload.includes(name));

function show(report: ViolationReport): void {
  const flags = report.allPoints ? ' --all-points' : '';
  console.log(`\nVIOLATION in ${report.workload}: ${report.message}`);
  console.log(report.description);
  console.log(
    `replay: npx tsx test/crash/run.ts --workload ${report.workload} --sequence '${report.sequence.join(',')}' --seed ${report.seed}${flags}`,
  );
}

async function replay(sequence: string): Promise<number> {
  for (const workload of chosen) {
    const seen = new SeenStates();
    const options = replayOptions(seed, values['all-points']);
    const report = await exploreSequence(workload, sequence.split(','), seen, options);
    if (report) {
      show(report);
      return 1;
    }
    console.log(`${workload.name}: no violation in ${seen.size} states`);
  }
  return 0;
}

/** Deals the workloads out to child processes and adds up what they report. */
class Run {
  readonly #start = performance.now();
  readonly #progress = new Map<string, Progress>();
  readonly #kinds = new Map<string, number>();
  readonly #children: ChildProcess[] = [];
  readonly #statesMax: number;

  constructor(statesMax: number) {
    this.#statesMax = statesMax;
  }

  async all(jobs: number): Promise<number> {
    const ended = Array.from({ length: Math.min(jobs, chosen.length) }, (_, index) =>
      this.#work(index, jobs),
    );
    await Promise.all(ended);
    this.#summary();
    return this.#kinds.size > 0 ? 1 : 0;
  }

  #work(index: number, jobs: number): Promise<void> {
    const mine = chosen.filter((_, position) => position % jobs === index).map(({ name }) => name);
    const job: Job = { workloads: mine, seed, keepGoing: values['keep-going'] };
    const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [JSON.stringify(job)]);
    this.#children.push(child);
    child.on('message', (message) => this.#on(message as JobMessage));
    return new Promise((resolve, reject) => {
      child.once('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`worker ended with code ${code}`)),
      );
    });
  }

  #on(message: JobMessage): void {
    for (const progress of message.progress) this.#progress.set(progress.workload, progress);
    if (message.violation) this.#violation(message.violation);
    if (this.#states() >= this.#statesMax) this.#stop();
  }

  #violation(report: ViolationReport): void {
    const kind = `${report.workload}: ${report.message.split(';')[0]!.replace(/\d+/g, '#').replace(/\.+/g, '.').slice(0, 60)}`;
    if (!this.#kinds.has(kind)) show(report);
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    if (!values['keep-going']) this.#stop();
  }

  #stop(): void {
    for (const child of this.#children) if (child.connected) child.send('stop');
  }

  #states(): number {
    return [...this.#progress.values()].reduce((sum, { states }) => sum + states, 0);
  }

  #summary(): void {
    const seconds = (performance.now() - this.#start) / 1000;
    console.log(`\nseed ${seed}, ${seconds.toFixed(1)} s`);
    for (const { workload, sequences, states, milliseconds, exhaustiveDone } of this.#progress.values()) {
      const rate = Math.round((states / Math.max(1, milliseconds)) * 1000);
      const short = exhaustiveDone ? 'all short sequences' : 'short sequences not all';
      console.log(
        `  ${workload.padEnd(16)} ${sequences} sequences (${short}), ${states} states, ${rate} states/s`,
      );
    }
    console.log(
      `  ${'total'.padEnd(16)} ${this.#states()} states, ${Math.round(this.#states() / seconds)} states/s`,
    );
    for (const [kind, count] of this.#kinds) console.log(`  violated in ${count} sequences: ${kind}`);
  }
}

process.exitCode =
  values.sequence === undefined
    ? await new Run(Number(values.states)).all(Number(values.jobs))
    : await replay(values.sequence);
