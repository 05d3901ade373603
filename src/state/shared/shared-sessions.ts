import type { Clock } from '../../core/clock.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { SessionTree } from './sessions/session-tree.js';
import { type SharedLimits, sharedLimits } from './shared-limits.js';
import { SharedState } from './shared-state.js';

/** Options of `SharedSessions`. */
export interface SharedSessionsOptions {
  /** Default `['shared']`. */
  readonly folder?: Name;
  readonly limits?: Partial<SharedLimits>;
  /** How long to wait while other processes write, in ms. Default 15,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

/** The session tree and the shared states of its roots, each opened once per process and closed together. */
export class SharedSessions {
  readonly tree: SessionTree;
  readonly #backend: StorageBackend;
  readonly #options: SharedSessionsOptions;
  readonly #states = new Map<string, SharedState>();

  /** Reads nothing yet. @throws INVALID_ARGUMENT for an invalid limit */
  constructor(backend: StorageBackend, options: SharedSessionsOptions = {}) {
    sharedLimits(options.limits); // here, so that a server with such a limit does not start
    this.#backend = backend;
    this.#options = options;
    this.tree = new SessionTree(backend, options);
  }

  /** The state that a session shares with all others of its root. @throws SESSION_NOT_FOUND */
  async stateOf(sessionId: string): Promise<SharedState> {
    const root = await this.tree.rootOf(sessionId);
    let state = this.#states.get(root);
    if (!state) this.#states.set(root, (state = new SharedState(this.#backend, { ...this.#options, root })));
    return state;
  }

  async close(): Promise<void> {
    const closing = [this.tree.close(), ...[...this.#states.values()].map((state) => state.close())];
    this.#states.clear();
    const failed = (await Promise.allSettled(closing)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
