/** The engine over the SQLite thread. */
import type { SqlAnswer, SqlEngine, SqlOperation, SqlRequest } from '../sql/sql-engine.js';
import { sqliteThread } from './sqlite-thread.js';
import type { StorePlace } from './thread-messages.js';

/** How soon a change by another process is noticed, in milliseconds. */
const LOOK_EVERY_MS = 40;
let lastHandle = 0;

export class SqliteEngine implements SqlEngine {
  readonly #store: StorePlace;
  #writes = 0;
  #closed: Promise<void> | null = null;

  constructor(file: string, busyTimeoutMs: number) {
    this.#store = { handle: ++lastHandle, file, busyTimeoutMs };
  }

  async run<K extends SqlOperation>(operation: K, request: SqlRequest<K>): Promise<SqlAnswer<K>> {
    const answer = await sqliteThread.call(this.#store, operation, request as SqlRequest<SqlOperation>);
    if (!operation.startsWith('read')) this.#writes += 1; // perhaps: checking once more is cheap
    return answer as SqlAnswer<K>;
  }

  /**
   * SQLite does not report commits of other processes, so its version is polled. Nothing else is read while the version
   * stays the same.
   */
  async watch(onHint: (keys: null) => void): Promise<() => Promise<void>> {
    let seen = this.#writes;
    let looking = false;
    const look = async () => {
      const changed = (await sqliteThread.call(this.#store, 'changed', null)) === true;
      if (changed || seen !== this.#writes) onHint(null);
      seen = this.#writes;
    };
    await look();
    const timer = setInterval(() => {
      if (looking) return;
      looking = true;
      void look()
        .catch(() => {}) // the next poll tries again
        .finally(() => (looking = false));
    }, LOOK_EVERY_MS);
    timer.unref();
    return async () => clearInterval(timer);
  }

  async scrub(quick: boolean): Promise<void> {
    await sqliteThread.call(this.#store, quick ? 'scrub-log' : 'scrub', null);
  }

  close(): Promise<void> {
    this.#closed ??= sqliteThread.call(this.#store, 'close', null).then(() => {});
    return this.#closed;
  }
}
