/**
 * The crash explorer.
 *
 * It runs a sequence of a workload's operations on a simulated disk, then takes every state that a crash may have left
 * (see `src/storage/simulated/`), lets the workload recover from it, and checks. `!kill` and `!power` in a sequence
 * end the process in the middle of the operation before; the rest runs in the next process, on what the crash left, so
 * that crashes during a recovery are explored too.
 *
 * Only crash points in the last operation are taken (the earlier ones are those of the shorter sequence), unless
 * `allPoints` is set, as it is for random sequences.
 */
import { messageOf } from '../../src/core/errors.js';
import type { CrashState } from '../../src/storage/simulated/crash-states.js';
import type { DiskEvent } from '../../src/storage/simulated/disk-event.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { SimulatedDisk } from '../../src/storage/simulated/simulated-disk.js';
import { StateHash } from '../../src/storage/simulated/state-hash.js';
import { describeDisk } from './describe-disk.js';
import type { Fact } from './history.js';
import type { SeenStates } from './seen-states.js';
import { laterClock, newClock, type Plant, rebootedProcess, runningProcess } from './simulated-process.js';
import { KILL, POWER, type Session, type Workload } from './workload.js';

export interface ExploreOptions {
  readonly seed: number;
  readonly allPoints?: boolean;
  readonly plant?: Plant;
  /** Combinations tried at one crash point. Default 256. */
  readonly perPoint?: number;
  /** Crash states from which the rest of a sequence goes on, for each `!power` in it. Default 6; `!kill` has four times as many. */
  readonly branches?: number;
  /** No more states than this. */
  readonly statesMax?: number;
}

export interface ViolationReport {
  readonly workload: string;
  readonly sequence: readonly string[];
  readonly seed: number;
  readonly message: string;
  readonly allPoints: boolean;
  /** How the state came about, the facts, and the files: for people. */
  readonly description: string;
}

export async function exploreSequence(
  workload: Workload,
  sequence: readonly string[],
  seen: SeenStates,
  options: ExploreOptions,
): Promise<ViolationReport | null> {
  const exploration = new Exploration(workload, sequence, seen, options);
  const clock = newClock();
  const disk = new SimulatedDisk({ clock });
  const facts = (await workload.prepare?.(disk)) ?? [];
  return exploration.run(disk.powerCut('everything'), sequence, facts, []);
}

/** All sequences up to a length, one after the other; the first violation ends it. */
export async function exploreAll(
  workload: Workload,
  sequences: Iterable<readonly string[]>,
  seen: SeenStates,
  options: ExploreOptions,
): Promise<ViolationReport | null> {
  for (const sequence of sequences) {
    const violation = await exploreSequence(workload, sequence, seen, options);
    if (violation) return violation;
  }
  return null;
}

/** Random parts of file names count as equal, so that a run can be repeated. */
export function pathForHash(path: string): string {
  if (path.lastIndexOf('-') < 0) return path;
  return path.replace(/\.tmp-\d+-[0-9a-f]+$/, '.tmp').replace(/-[0-9a-f]{8}$/, '-random');
}

class Exploration {
  readonly #workload: Workload;
  readonly #sequence: readonly string[];
  readonly #seen: SeenStates;
  readonly #options: ExploreOptions;
  readonly #plant: Plant;
  readonly #random: SeededRandom;
  readonly #statesAtStart: number;

  constructor(workload: Workload, sequence: readonly string[], seen: SeenStates, options: ExploreOptions) {
    this.#workload = workload;
    this.#sequence = sequence;
    this.#seen = seen;
    this.#options = options;
    this.#plant = options.plant ?? {};
    this.#random = new SeededRandom(options.seed);
    this.#statesAtStart = seen.size;
  }

  /** Runs one process, up to the first crash token; `path` says how its disk came about. */
  async run(
    disk: SimulatedDisk,
    operations: readonly string[],
    before: readonly Fact[],
    path: readonly string[],
  ): Promise<ViolationReport | null> {
    const crashAt = operations.findIndex((operation) => operation === KILL || operation === POWER);
    const mine = crashAt < 0 ? operations : operations.slice(0, crashAt);
    const process = runningProcess(disk, path.length + 1, before, this.#plant);
    let session: Session | null = null;
    let lastStart = 0;
    try {
      session = await this.#workload.start(process);
      for (const [index, operation] of mine.entries()) {
        if (index > 0 || path.length > 0) lastStart = disk.point;
        await session.apply(operation);
      }
    } catch (thrown) {
      await session?.dispose().catch(() => {});
      return this.#report(
        thrown,
        [...path, `while running ${mine.join(', ') || 'the opening'}`],
        process.history.at(disk.point),
        disk,
      );
    }
    const span = { from: this.#options.allPoints ? 0 : lastStart, to: disk.point };
    const factsAt = (point: number) => process.history.at(point);
    const violation =
      crashAt < 0
        ? await this.#checkAll(disk, span, factsAt, path)
        : await this.#goOn(disk, operations[crashAt]!, operations.slice(crashAt + 1), span, factsAt, path);
    await session.dispose().catch(() => {});
    return violation;
  }

  async #checkAll(
    disk: SimulatedDisk,
    span: { readonly from: number; readonly to: number },
    factsAt: (point: number) => readonly Fact[],
    path: readonly string[],
  ): Promise<ViolationReport | null> {
    let facts: readonly Fact[] = [];
    let factsHash = 0;
    /** A sync adds no state, and is left out where nothing was acknowledged since either. */
    const skip = (point: number): boolean => {
      const hashBefore = factsHash;
      facts = factsAt(point);
      factsHash = hashOf(this.#workload.name, facts);
      const event = disk.log[point - 1];
      return point > span.from && factsHash === hashBefore && event !== undefined && addsNoState(event);
    };
    for (const state of this.#states(disk, span, skip)) {
      if (this.#isEnough()) return null;
      const key = new StateHash().number(factsHash).number(state.hash()).value();
      if (!this.#seen.add(key)) continue;
      const violation = await this.#check(disk, state, facts, key, path);
      if (violation) return violation;
    }
    return null;
  }

  async #check(
    disk: SimulatedDisk,
    state: CrashState,
    facts: readonly Fact[],
    key: number,
    path: readonly string[],
  ): Promise<ViolationReport | null> {
    const rebooted = disk.reboot(state, laterClock(disk));
    try {
      await this.#workload.check(rebootedProcess(rebooted, facts, key % 4 === 0, this.#plant));
      return null;
    } catch (thrown) {
      return this.#report(thrown, [...path, state.describe()], facts, disk.reboot(state), rebooted);
    }
  }

  /** The rest of the sequence, in the next process, from a sample of what the crash may have left. */
  async #goOn(
    disk: SimulatedDisk,
    crash: string,
    rest: readonly string[],
    span: { readonly from: number; readonly to: number },
    factsAt: (point: number) => readonly Fact[],
    path: readonly string[],
  ): Promise<ViolationReport | null> {
    const left =
      crash === KILL
        ? this.#sample(range(span.from, span.to), 4).map((point) => ({
            point,
            disk: disk.killedAt(point, laterClock(disk)),
            how: `killed after operation ${point}`,
          }))
        : this.#sample(distinct([...this.#states(disk, span)])).map((state) => ({
            point: state.point,
            disk: disk.reboot(state, laterClock(disk)),
            how: state.describe(),
          }));
    for (const next of left) {
      const violation = await this.run(next.disk, rest, factsAt(next.point), [...path, next.how]);
      if (violation || this.#isEnough()) return violation;
    }
    return null;
  }

  #states(
    disk: SimulatedDisk,
    span: { readonly from: number; readonly to: number },
    skip?: (point: number) => boolean,
  ): Generator<CrashState> {
    const { perPoint = 256, seed } = this.#options;
    return disk.crashStates({
      fromPoint: span.from,
      toPoint: span.to,
      perPoint,
      seed,
      pathForHash,
      ...(skip ? { skip } : {}),
    });
  }

  #sample<T>(list: readonly T[], times = 1): T[] {
    const most = (this.#options.branches ?? 6) * times;
    const rest = [...list];
    const chosen: T[] = rest.length > 0 ? [rest.pop()!] : []; // "all done" is always among them
    while (rest.length > 0 && chosen.length < most)
      chosen.push(rest.splice(this.#random.below(rest.length), 1)[0]!);
    return chosen;
  }

  #isEnough(): boolean {
    return this.#seen.size - this.#statesAtStart >= (this.#options.statesMax ?? Number.POSITIVE_INFINITY);
  }

  #report(
    thrown: unknown,
    path: readonly string[],
    facts: readonly Fact[],
    before: SimulatedDisk,
    after?: SimulatedDisk,
  ): ViolationReport {
    const parts = [
      ...path,
      `facts:\n  ${facts.map((fact) => JSON.stringify(fact)).join('\n  ') || 'none'}`,
      `files before recovery:\n${describeDisk(before)}`,
      ...(after ? [`files after recovery:\n${describeDisk(after)}`] : []),
      ...(thrown instanceof Error && thrown.name !== 'Violation' ? [String(thrown.stack)] : []),
    ];
    const { name } = this.#workload;
    const { seed, allPoints = false } = this.#options;
    return {
      workload: name,
      sequence: this.#sequence,
      seed,
      allPoints,
      message: describeError(thrown),
      description: parts.join('\n'),
    };
  }
}

function addsNoState(event: DiskEvent): boolean {
  if (event.kind === 'datasync' || event.kind === 'sync-folder') return !event.failed;
  return event.kind === 'touch';
}

function describeError(thrown: unknown): string {
  const code =
    typeof thrown === 'object' && thrown !== null && 'code' in thrown ? `${String(thrown.code)}: ` : '';
  return `${code}${messageOf(thrown)}`;
}

function hashOf(workload: string, facts: readonly Fact[]): number {
  return new StateHash()
    .text(workload)
    .text(JSON.stringify(facts.filter((fact) => fact.acked !== null)))
    .value();
}

function distinct(states: readonly CrashState[]): CrashState[] {
  return [...new Map(states.map((state) => [`${state.point}:${state.hash()}`, state] as const)).values()];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
