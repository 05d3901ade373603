/** The engine over the thread of SQLite. */
import type { SqlAnswer, SqlEngine, SqlOperation, SqlRequest } from '../sql/sql-engine.js';
import { sqliteThread } from './sqlite-thread.js';
import type { StorePlace } from './thread-messages.js';

/** How soon a change by another process is noticed. */
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
    if (!operation.startsWith('read')) this.#writes += 1; // perhaps: looking once more is cheap
    return answer as SqlAnswer<K>;
  }

  /** SQLite tells no one of a commit: its version is looked at from time to time, and only that while it stays. */
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
        .catch(() => {}) // the next look tries again
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
