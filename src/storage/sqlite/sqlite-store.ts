/**
 * A database in its thread. Calls come in batches. Durable writes share one transaction and one sync; writes that need
 * no sync share another transaction; reads follow. If a transaction fails, each of its calls is tried alone, so that
 * one bad call does not affect the others.
 */
import { RekindleError } from '../../core/errors.js';
import { EMPTY_ANSWERS } from '../sql/empty-answers.js';
import type { SqlAnswer, SqlOperation, SqlRequest } from '../sql/sql-engine.js';
import { assertSynchronous, type Connections, openDatabase } from './open-database.js';
import { type Durability, durabilityOf, OPERATIONS } from './operations.js';
import type { SqliteConnection } from './sqlite-connection.js';
import type { SqliteDriver } from './sqlite-driver.js';
import { nothingKept, sqliteError } from './sqlite-errors.js';
import { databaseExists, preparePlace } from './sqlite-file.js';

/** The log then has a few megabytes. */
const CHECKPOINT_COMMITS = 128;

export interface StoreCall {
  readonly operation: SqlOperation;
  readonly request: SqlRequest<SqlOperation>;
}

export type StoreAnswer =
  | { readonly answer: SqlAnswer<SqlOperation> }
  | { readonly error: RekindleError; readonly unknown: boolean };

export class SqliteStore {
  readonly #driver: SqliteDriver;
  readonly #file: string;
  readonly #busyTimeoutMs: number;
  #open: Connections | null = null;
  #checked = false;
  /** Commits since the last checkpoint. */
  #commits = 0;
  /** True while a commit runs: tells what failed. */
  #committing = false;
  #dataVersion: unknown = null;

  constructor(driver: SqliteDriver, file: string, busyTimeoutMs: number) {
    this.#driver = driver;
    this.#file = file;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /** One answer per call, in order. */
  run(calls: readonly StoreCall[]): StoreAnswer[] {
    const answers: StoreAnswer[] = [];
    const kinds = calls.map(({ operation, request }) => durabilityOf(operation, request));
    for (const kind of ['durable', 'volatile', 'read'] as const) {
      const indexes = [...calls.keys()].filter((index) => kinds[index] === kind);
      if (indexes.length === 0) continue;
      const results = this.#runKind(
        kind,
        indexes.map((index) => calls[index]!),
      );
      for (const [at, index] of indexes.entries()) answers[index] = results[at]!;
    }
    return answers;
  }

  #runKind(kind: Durability, calls: readonly StoreCall[]): StoreAnswer[] {
    if (kind === 'read') return calls.map((call) => this.#attempt(call.operation, () => this.#read(call)));
    if (calls.length === 1) return [this.#write(kind, calls[0]!)];
    try {
      const answers = this.#transaction(kind, (db) => calls.map((call) => runCall(db, call)));
      return answers.map((answer) => ({ answer }));
    } catch {
      return calls.map((call) => this.#write(kind, call));
    }
  }

  #write(kind: Durability, call: StoreCall): StoreAnswer {
    return this.#attempt(call.operation, () => this.#transaction(kind, (db) => runCall(db, call)));
  }

  #attempt(operation: SqlOperation, run: () => SqlAnswer<SqlOperation>): StoreAnswer {
    this.#committing = false;
    try {
      return { answer: run() };
    } catch (thrown) {
      const error = sqliteError(thrown, operation, this.#file);
      return { error, unknown: this.#committing && !nothingKept(error) };
    }
  }

  #read(call: StoreCall): SqlAnswer<SqlOperation> {
    const empty = EMPTY_ANSWERS[call.operation];
    if (!this.#open && empty !== undefined && !databaseExists(this.#file)) return empty;
    const { durable } = this.#connections();
    durable.exec('BEGIN'); // several statements must see one state
    try {
      return runCall(durable, call);
    } finally {
      durable.exec('COMMIT');
    }
  }

  #transaction<T>(kind: Durability, work: (db: SqliteConnection) => T): T {
    const connections = this.#connections();
    const db = kind === 'durable' ? connections.durable : connections.volatile;
    db.exec('BEGIN IMMEDIATE');
    let result: T;
    try {
      result = work(db);
    } catch (thrown) {
      rollBack(db);
      throw thrown;
    }
    this.#commit(db);
    this.#commits += 1;
    if (kind === 'durable' && !this.#checked) {
      assertSynchronous(db, this.#file);
      this.#checked = true;
    }
    return result;
  }

  #commit(db: SqliteConnection): void {
    this.#committing = true;
    try {
      db.exec('COMMIT');
    } catch (thrown) {
      rollBack(db);
      // After a failed sync, pages count as clean although they are not on the disk, so this handle is never used
      // again. If there was no space, or the lock was not available, nothing relevant was written.
      if (!nothingKept(sqliteError(thrown, 'commit', this.#file))) this.close();
      throw thrown;
    }
  }

  #connections(): Connections {
    if (!this.#open) {
      preparePlace(this.#file);
      this.#open = openDatabase(this.#driver, this.#file, this.#busyTimeoutMs);
    }
    return this.#open;
  }

  /**
   * Moves the log into the database if it is large: between commits, so that no commit waits for it. Readers in other
   * processes may block a part of it; the next checkpoint moves that.
   */
  checkpoint(): void {
    if (!this.#open || this.#commits < CHECKPOINT_COMMITS) return;
    this.#commits = 0;
    try {
      this.#open.durable.get('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // nothing is lost: it stays in the log
    }
  }

  /** Rewrites the database without free pages (not if `quick`), and empties the log. @throws STORAGE_UNAVAILABLE */
  scrub(quick: boolean): void {
    if (!this.#open && !databaseExists(this.#file)) return;
    const { durable } = this.#connections();
    if (!quick) durable.exec('VACUUM');
    const { busy } = durable.get('PRAGMA wal_checkpoint(TRUNCATE)') ?? {};
    if (busy === 0) return;
    throw new RekindleError(
      'STORAGE_UNAVAILABLE',
      'Another process reads the log, so it could not be emptied.',
      {
        details: { path: this.#file },
      },
    );
  }

  /** True if another connection has committed since the last call. */
  changed(): boolean {
    if (!this.#open && !databaseExists(this.#file)) return false;
    const { data_version: version } = this.#connections().durable.get('PRAGMA data_version') ?? {};
    const changed = version !== this.#dataVersion;
    this.#dataVersion = version;
    return changed;
  }

  close(): void {
    const open = this.#open;
    this.#open = null;
    this.#checked = false;
    this.#dataVersion = null;
    try {
      open?.volatile.close();
    } finally {
      open?.durable.close();
    }
  }
}

function runCall(db: SqliteConnection, { operation, request }: StoreCall): SqlAnswer<SqlOperation> {
  const run = OPERATIONS[operation] as (db: SqliteConnection, request: unknown) => SqlAnswer<SqlOperation>;
  return run(db, request);
}

/** A transaction that SQLite ended by itself must not be rolled back again. */
function rollBack(db: SqliteConnection): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // already rolled back
  }
}
