/** Gives a target its inputs, and looks at each that only what is promised happened. */
import { isRekindleError, messageOf } from '../../src/core/errors.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import type { FuzzTarget } from './fuzz-target.js';
import { inputFor } from './mutate.js';
import { PrototypeWatch } from './prototypes.js';

export interface Finding {
  readonly target: string;
  readonly index: number;
  readonly problem: string;
  readonly input: string;
}

export interface TargetTally {
  readonly target: string;
  inputs: number;
  accepted: number;
  milliseconds: number;
}

/** No single input may hold the process longer; a machine that is busy is given the benefit of the doubt by a second try. */
const CALL_MS = 1_000;
const RENEW_EVERY = 2_000;
const LOOK_EVERY = 50;

export class Fuzzer {
  readonly #seed: number;
  readonly #onFinding: (finding: Finding) => void;
  readonly #watch = new PrototypeWatch();
  #unhandled: unknown[] = [];

  constructor(seed: number, onFinding: (finding: Finding) => void) {
    this.#seed = seed;
    this.#onFinding = onFinding;
    process.on('unhandledRejection', (reason) => this.#unhandled.push(reason));
  }

  /** @param onInput told before each input, so that whoever watches knows which one hangs */
  async run(
    target: FuzzTarget,
    indices: Iterable<number>,
    onInput: (index: number) => void = () => {},
  ): Promise<TargetTally> {
    const tally: TargetTally = { target: target.name, inputs: 0, accepted: 0, milliseconds: 0 };
    const start = performance.now();
    for (const index of indices) {
      onInput(index);
      if (await this.#one(target, index)) tally.accepted += 1;
      tally.inputs += 1;
      if (tally.inputs % RENEW_EVERY === 0) await target.renew?.();
    }
    await target.renew?.();
    tally.milliseconds = performance.now() - start;
    return tally;
  }

  async #one(target: FuzzTarget, index: number): Promise<boolean> {
    const random = new SeededRandom((this.#seed * 31 + index) ^ hashOf(target.name));
    const input = inputFor(target, random);
    const tell = (problem: string) => this.#onFinding({ target: target.name, index, problem, input });
    let accepted = false;
    const start = performance.now();
    try {
      accepted = await target.take(input, random);
    } catch (thrown) {
      if (!isRekindleError(thrown))
        tell(
          thrown instanceof Error ? `${thrown.name}: ${thrown.stack ?? thrown.message}` : messageOf(thrown),
        );
    }
    if (performance.now() - start > CALL_MS && (await this.#isSlowAgain(target, input, random)))
      tell(`took longer than ${CALL_MS} ms, twice`);
    if (index % LOOK_EVERY === 0 || accepted) {
      if (index % LOOK_EVERY === 0) await new Promise((resolve) => setImmediate(resolve));
      for (const reason of this.#unhandled.splice(0))
        tell(`an unhandled rejection since the last look: ${messageOf(reason)}`);
    }
    const look = index % LOOK_EVERY === 0 || this.#watch.looksChanged();
    const changed = look ? this.#watch.change() : null;
    if (changed) tell(`a shared object was changed: ${changed}`);
    return accepted;
  }

  async #isSlowAgain(target: FuzzTarget, input: string, random: SeededRandom): Promise<boolean> {
    const start = process.cpuUsage();
    try {
      await target.take(input, random);
    } catch {
      // It was judged the first time.
    }
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000 > CALL_MS;
  }
}

function hashOf(text: string): number {
  let hash = 0;
  for (const character of text) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0;
  return hash;
}
