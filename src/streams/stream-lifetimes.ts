/** How streams end: deletion, expiry, and sources that are kept as long as a fork needs them. */
import type { Clock } from '../core/clock.js';
import { RekindleError } from '../core/errors.js';
import type { CreateOutcome, CreateRequest } from './create-decision.js';
import type { OpenStream, StreamPool } from './stream-pool.js';
import { Gathered, gather } from './stream-reading.js';
import type { ForkPoint } from './stream-record.js';
import type { StreamState } from './stream-state.js';
import { isSameType } from './stream-type.js';

/** Forks that one stream may have at a time. */
export const FORKS_MAX = 10_000;
/** A source waits this long (ms) for a fork that it holds content for. After that, a missing fork counts as never created. */
const FORK_MS_MAX = 60_000;

export type Held =
  | { readonly kind: 'held'; readonly source: StreamState; readonly point: ForkPoint }
  | (CreateOutcome & { readonly kind: 'conflict' | 'source-missing' | 'beyond' });

export class StreamLifetimes {
  readonly #pool: StreamPool;
  readonly #clock: Clock;

  constructor(pool: StreamPool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /** The newest state. What has expired, and what was kept for forks that are gone, is removed first. */
  async live(stream: OpenStream): Promise<StreamState | null> {
    const state = await stream.log.current();
    if (!state) return null;
    if (state.isDeleted) await this.#collect(stream, state.id);
    else if (await stream.times.isExpired(state)) await this.delete(stream, state.id);
    else return state;
    return stream.log.state;
  }

  /** Deleted first, so that no fork can be added; then removed, unless forks need it. */
  async delete(stream: OpenStream, id: string): Promise<void> {
    await stream.log.change((state) => ({
      ops: state?.id === id && !state.isDeleted ? [{ op: 'delete' }] : [],
      result: () => undefined,
    }));
    await this.#collect(stream, id);
  }

  async #collect(stream: OpenStream, id: string): Promise<void> {
    const { state } = stream.log;
    if (state?.id !== id || !state.isDeleted) return;
    for (const [fork, { path, sinceMs }] of state.forks) {
      if (this.#clock.nowMs() - sinceMs < FORK_MS_MAX) return;
      if (await this.#pool.use(path, async (other) => (await this.live(other))?.id === fork)) return;
    }
    if ((await stream.log.remove(id)) && state.fork) await this.release(state.fork, id);
  }

  /** A fork no longer needs its source. */
  async release(point: ForkPoint, fork: string): Promise<void> {
    await this.#pool.use(point.path, async (source) => {
      await source.log.change((state) => {
        const known = state?.id === point.id ? state.forks.get(fork) : undefined;
        return { ops: known ? [{ op: 'release', fork, path: known.path }] : [], result: () => undefined };
      });
      await this.#collect(source, point.id);
    });
  }

  /** Makes sure that the source of a new fork stays. @throws LIMIT_EXCEEDED for too many forks */
  async hold(
    { type, fork: asked }: CreateRequest,
    fork: { readonly id: string; readonly path: string },
  ): Promise<Held> {
    const { path, at, sub } = asked!;
    return this.#pool.use(path, async (source): Promise<Held> => {
      const state = await this.live(source);
      if (!state) return { kind: 'source-missing' };
      if (state.isDeleted) return { kind: 'conflict', why: 'source-deleted' };
      if (type !== null && !isSameType(type, state.type)) return { kind: 'conflict', why: 'source-type' };
      const anchor = at ?? state.tail;
      if (anchor > state.tail || !(await this.#reaches(source, state, anchor, sub)))
        return { kind: 'beyond' };
      const point = { path, id: state.id, at: anchor + sub, sub };
      return source.log.change((now): { ops: []; result: () => Held } | HoldChange => {
        if (now?.id !== state.id) return { ops: [], result: () => ({ kind: 'source-missing' }) };
        if (now.isDeleted) return { ops: [], result: () => ({ kind: 'conflict', why: 'source-deleted' }) };
        if (now.forks.size >= FORKS_MAX) throw tooManyForks();
        return {
          ops: [{ op: 'hold', fork: fork.id, path: fork.path }],
          result: () => ({ kind: 'held', source: state, point }),
        };
      });
    });
  }

  /** A sub-position lies within the append after the anchor. */
  async #reaches(source: OpenStream, state: StreamState, anchor: number, sub: number): Promise<boolean> {
    if (sub === 0) return true;
    if (anchor >= state.tail) return false;
    const first = new Gathered(anchor, 1);
    await gather(this.#pool, source, state, first, state.tail);
    return anchor + sub <= (first.pieces[0]?.end ?? anchor);
  }
}

interface HoldChange {
  readonly ops: readonly [{ readonly op: 'hold'; readonly fork: string; readonly path: string }];
  result(): Held;
}

function tooManyForks(): RekindleError {
  return new RekindleError('LIMIT_EXCEEDED', `A stream has at most ${FORKS_MAX} forks.`, {
    details: { limit: 'forks', allowed: FORKS_MAX },
  });
}
