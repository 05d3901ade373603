/** Many mutations, each on a fresh copy of a session. The same seed and number give the same one. */
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { DAMAGE } from './mutations/damage.js';
import { EXCHANGES } from './mutations/exchange.js';
import { FIELDS } from './mutations/fields.js';
import { KEY_CHANGES } from './mutations/keys.js';
import { LINES } from './mutations/lines.js';
import type { Mutation, Tampered } from './mutations/mutation.js';
import type { StoredSession } from './stores.js';
import { judge, type Outcome } from './verdict.js';

export const MUTATIONS: readonly Mutation[] = [...DAMAGE, ...EXCHANGES, ...LINES, ...FIELDS, ...KEY_CHANGES];

export interface CampaignOptions {
  readonly seed: number;
  /** See `Judged`. */
  readonly contentsOnly?: boolean;
  /** Only sessions that are encrypted from their beginning. */
  readonly sealedOnly?: boolean;
  /** Default: all. */
  readonly kinds?: readonly string[];
}

export interface Attempt {
  readonly kind: string;
  readonly outcome: Outcome;
  /** Each with what was done, and how to repeat it. */
  readonly violations: readonly string[];
}

const AT_ONCE = 8;

export class Campaign {
  readonly #sessions: readonly StoredSession[];
  readonly #options: CampaignOptions;
  readonly #mutations: readonly Mutation[];
  readonly #tampered: readonly StoredSession[];

  constructor(sessions: readonly StoredSession[], options: CampaignOptions) {
    this.#sessions = sessions;
    this.#options = options;
    const { kinds, sealedOnly = false, contentsOnly = false } = options;
    const isTried = ({ kind, valid = false }: Mutation) =>
      (kinds?.includes(kind) ?? true) && !(valid && contentsOnly);
    this.#mutations = MUTATIONS.filter(isTried);
    this.#tampered = sessions.filter(({ sealed }) => sealed || !sealedOnly);
  }

  /** Some at a time: much of it is waiting. In no order. */
  async *attempts(indices: Iterable<number>): AsyncGenerator<Attempt> {
    const running = new Map<number, Promise<{ index: number; attempt: Attempt }>>();
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0; // nearly all that is thrown is caught, and stacks are dear
    try {
      for (const index of indices) {
        running.set(
          index,
          this.attempt(index).then((attempt) => ({ index, attempt })),
        );
        if (running.size >= AT_ONCE) yield await next(running);
      }
      while (running.size > 0) yield await next(running);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  async attempt(index: number): Promise<Attempt> {
    const { seed, contentsOnly = false } = this.#options;
    const random = new SeededRandom(Math.imul(seed, 2_654_435_761) + index);
    const { mutation, session, tampered } = this.#draw(random);
    const { files, what } = tampered;
    const { crafted, kind } = mutation;
    const first = random.below(8);
    const { outcome, violations } = await judge({ session, files, crafted, contentsOnly, first });
    const place = `--seed ${seed} --only ${index}: ${session.id}: ${kind}: ${what}`;
    return { kind, outcome, violations: violations.map((text) => `${place}: ${text}`) };
  }

  #draw(random: SeededRandom): { mutation: Mutation; session: StoredSession; tampered: Tampered } {
    for (;;) {
      const mutation = random.pick(this.#mutations);
      const session = random.pick(this.#tampered);
      const others = this.#sessions.filter((other) => other !== session);
      const tampered = mutation.apply(session, others, random);
      if (tampered) return { mutation, session, tampered };
    }
  }
}

async function next(running: Map<number, Promise<{ index: number; attempt: Attempt }>>): Promise<Attempt> {
  const { index, attempt } = await Promise.race(running.values());
  running.delete(index);
  return attempt;
}

/** From `first` on, each `step`-th below `end`. */
export function* indicesOf(first: number, step: number, end: number): Generator<number> {
  for (let index = first; index < end; index += step) yield index;
}
