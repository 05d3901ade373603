/** Which operation sequences are tried: all short ones, then random longer ones without end. */
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { KILL, POWER } from './workload.js';

export const EXHAUSTIVE_LENGTH = 3;
const RANDOM_LENGTH_MAX = 9;
const CRASHES_MAX = 2;

/** By length. A crash comes only after an operation; it may end the sequence: then recovery itself is what crashes. */
export function* exhaustiveSequences(
  operations: readonly string[],
  length = EXHAUSTIVE_LENGTH,
): Generator<string[]> {
  const tokens = [...operations, KILL, POWER];
  let shorter: string[][] = operations.map((operation) => [operation]);
  for (let size = 1; size <= length; size++) {
    yield* shorter;
    shorter = shorter.flatMap((sequence) => tokens.map((token) => [...sequence, token]));
  }
}

export function* randomSequences(operations: readonly string[], seed: number): Generator<string[]> {
  const random = new SeededRandom(seed);
  for (;;) {
    const length = EXHAUSTIVE_LENGTH + 1 + random.below(RANDOM_LENGTH_MAX - EXHAUSTIVE_LENGTH);
    const sequence = [random.pick(operations)];
    let crashes = 0;
    while (sequence.length < length) {
      const crash = crashes < CRASHES_MAX && random.below(5) === 0;
      sequence.push(crash ? random.pick([KILL, POWER]) : random.pick(operations));
      if (crash) crashes++;
    }
    yield sequence;
  }
}
