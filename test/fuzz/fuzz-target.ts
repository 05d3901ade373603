/** A way in from outside, as a function of one text. */
import type { SeededRandom } from '../../src/storage/simulated/seeded-random.js';

export interface FuzzTarget {
  readonly name: string;
  /** Of all inputs, in parts: what is fast gets more. */
  readonly weight: number;
  /** Texts that the way in is meant for; they are mutated. */
  readonly seeds: readonly string[];
  /** Words of its grammar, which mutations put in. */
  readonly words: readonly string[];
  /**
   * Takes one input. Says whether it was accepted.
   * @throws RekindleError for what is refused; anything else is a fault
   */
  take(input: string, random: SeededRandom): Promise<boolean> | boolean;
  /** Lets go of what inputs have filled. */
  renew?(): Promise<void>;
}

/** What was promised does not hold, though nothing was thrown. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

export function expectThat(condition: boolean, text: string): void {
  if (!condition) throw new BrokenPromise(text);
}
