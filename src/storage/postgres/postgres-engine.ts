/**
 * The engine over PostgreSQL. Every call has a deadline. A lost connection is replaced, with growing pauses, and the
 * operation is repeated; each operation can detect that an earlier try succeeded although its answer was lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EMPTY_ANSWERS, onlyReads } from '../sql/empty-answers.js';
import type { SqlAnswer, SqlEngine, SqlOperation, SqlRequest } from '../sql/sql-engine.js';
import { tlsFailure } from './connection-security.js';
import { changedKeys, OPERATIONS } from './operations.js';
import { failureOf, outcomeUnknown, postgresError, unavailable } from './postgres-errors.js';
import { PostgresListener, PostgresNotifier } from './postgres-notifications.js';
import { PostgresAttempt, type PostgresPool } from './postgres-pool.js';
import { migrate, schemaVersion } from './postgres-schema.js';
import type { RowContext } from './rows/context.js';

export interface PostgresEngineOptions {
  readonly url: string;
  /** For people, without a password. */
  readonly place: string;
  /** Not quoted. */
  readonly schema: string;
  readonly partitions: number;
  readonly deadlineMs: number;
  readonly notify: boolean;
  readonly unsyncedCommits: boolean;
}

const PAUSE_MS = 50;
const PAUSE_MAX_MS = 1_000;
const UNSYNCED = `unsynced AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))`;

export class PostgresEngine implements SqlEngine {
  readonly #pool: PostgresPool;
  readonly #options: PostgresEngineOptions;
  readonly #schema: string;
  readonly #notifier: PostgresNotifier | null;
  readonly #listeners = new Set<PostgresListener>();
  /** The schema exists, in this release's version. */
  #ready = false;
  #migrating: Promise<void> | null = null;
  #closed: Promise<void> | null = null;

  constructor(pool: PostgresPool, options: PostgresEngineOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#schema = `"${options.schema}"`;
    this.#notifier = options.notify ? new PostgresNotifier(pool, options.schema) : null;
  }

  async run<K extends SqlOperation>(operation: K, request: SqlRequest<K>): Promise<SqlAnswer<K>> {
    const answer = await this.#trying(operation, async (db) => {
      if (!this.#ready && !(await this.#prepare(db, operation)))
        return EMPTY_ANSWERS[operation] as SqlAnswer<K>;
      return OPERATIONS[operation](this.#contextFor(db), request);
    });
    this.#notifier?.tell(changedKeys(operation, request));
    return answer;
  }

  #contextFor(db: PostgresAttempt): RowContext {
    return { db, schema: this.#schema, unsynced: this.#options.unsyncedCommits ? UNSYNCED : '' };
  }

  async #trying<T>(operation: SqlOperation | 'scrub', run: (db: PostgresAttempt) => Promise<T>): Promise<T> {
    const { deadlineMs, place } = this.#options;
    const start = performance.now();
    const deadline = start + deadlineMs;
    let unsure = false;
    for (let pause = PAUSE_MS; ; pause = Math.min(2 * pause, PAUSE_MAX_MS)) {
      const attempt = new PostgresAttempt(this.#pool, deadline, unsure);
      try {
        return await run(attempt);
      } catch (thrown) {
        const refused = tlsFailure(thrown, place);
        if (refused) throw refused; // another try would fail in the same way
        const failure = failureOf(thrown, attempt.sent);
        if (failure === 'final') throw postgresError(thrown, operation, place);
        unsure ||= failure === 'unsure';
        const waited = performance.now() - start;
        if (waited + pause >= deadlineMs) {
          if (unsure && operation === 'append') throw outcomeUnknown(thrown, operation, place);
          throw unavailable(thrown, operation, place, waited);
        }
      }
      await sleep(Math.min(pause * (0.5 + Math.random()), deadline - performance.now()));
    }
  }

  /** False if there is no store; reading does not create one. */
  async #prepare(db: PostgresAttempt, operation: SqlOperation): Promise<boolean> {
    if (onlyReads(operation)) {
      if ((await schemaVersion(db, this.#schema)) === null) return false;
    }
    const { partitions } = this.#options;
    this.#migrating ??= migrate(db, { schema: this.#schema, partitions }).finally(
      () => (this.#migrating = null),
    );
    await this.#migrating;
    this.#ready = true;
    return true;
  }

  /** Dead rows and the server's log are internal to the server; after this it may reuse the space of dead rows. */
  async scrub(quick: boolean): Promise<void> {
    if (quick) return;
    const tables = ['records', 'streams', 'damaged_records', 'documents', 'document_pieces', 'blobs'];
    await this.#trying('scrub', async (db) => {
      if ((await schemaVersion(db, this.#schema)) === null) return;
      // If it times out or is not permitted, the server's own vacuum runs later.
      for (const table of tables) await db.query(`VACUUM ${this.#schema}.${table}`).catch(() => []);
    });
  }

  async watch(onHint: (keys: readonly string[] | null) => void): Promise<() => Promise<void>> {
    const feed = new PostgresListener(this.#options, onHint);
    this.#listeners.add(feed);
    await feed.start();
    return async () => {
      this.#listeners.delete(feed);
      await feed.stop();
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const feed of this.#listeners) await feed.stop();
    await this.#notifier?.close();
    await this.#pool.close();
  }
}
