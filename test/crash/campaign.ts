/**
 * A long exploration of some workloads in turns: first all short sequences, then random ones, until it is told to stop.
 * Every choice comes from the seed.
 */
import { exploreSequence, type ViolationReport } from './explorer.js';
import { SeenStates } from './seen-states.js';
import { exhaustiveSequences, randomSequences } from './sequences.js';
import type { Workload } from './workload.js';

export interface Progress {
  readonly workload: string;
  readonly sequences: number;
  readonly exhaustiveDone: boolean;
  /** Distinct ones, each recovered from and checked. */
  readonly states: number;
  readonly milliseconds: number;
}

/** A random sequence has many crash points; fewer combinations at each, so that more sequences are seen. */
const RANDOM = { allPoints: true, perPoint: 40, statesMax: 3_000, branches: 4 } as const;
const EXHAUSTIVE = { branches: 10 } as const;
/** One turn of a workload. */
const TURN_MS = 400;

export class Campaign {
  readonly #workload: Workload;
  readonly #seed: number;
  readonly #seen = new SeenStates();
  readonly #exhaustive: Generator<string[]>;
  readonly #random: Generator<string[]>;
  #exhaustiveDone = false;
  #sequences = 0;
  #milliseconds = 0;

  constructor(workload: Workload, seed: number) {
    this.#workload = workload;
    this.#seed = seed;
    this.#exhaustive = exhaustiveSequences(workload.alphabet);
    this.#random = randomSequences(workload.alphabet, seed);
  }

  progress(): Progress {
    return {
      workload: this.#workload.name,
      sequences: this.#sequences,
      exhaustiveDone: this.#exhaustiveDone,
      states: this.#seen.size,
      milliseconds: Math.round(this.#milliseconds),
    };
  }

  async turn(): Promise<ViolationReport | null> {
    const start = performance.now();
    let violation: ViolationReport | null = null;
    while (violation === null && performance.now() - start < TURN_MS) violation = await this.#one();
    this.#milliseconds += performance.now() - start;
    return violation;
  }

  #one(): Promise<ViolationReport | null> {
    const short = this.#exhaustiveDone ? null : this.#exhaustive.next();
    if (short && !short.done) return this.#explore(short.value, { ...EXHAUSTIVE, seed: this.#seed });
    this.#exhaustiveDone = true;
    const sequence = this.#random.next().value as string[];
    return this.#explore(sequence, { ...RANDOM, seed: this.#seed + this.#sequences });
  }

  #explore(
    sequence: string[],
    options: Parameters<typeof exploreSequence>[3],
  ): Promise<ViolationReport | null> {
    this.#sequences++;
    return exploreSequence(this.#workload, sequence, this.#seen, options);
  }
}

/** The options with which a reported sequence shows its violation again. */
export function replayOptions(seed: number, allPoints: boolean): Parameters<typeof exploreSequence>[3] {
  return allPoints ? { ...RANDOM, seed } : { ...EXHAUSTIVE, seed };
}
