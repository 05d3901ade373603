/** The SQLite backend: everything in one file, for one machine and any number of its processes. */
import path from 'node:path';
import { SqlStorage, type SqlStorageOptions } from '../sql/sql-storage.js';
import { SqliteEngine } from './sqlite-engine.js';

export interface SqliteStorageOptions extends SqlStorageOptions {
  /** How long a commit waits while another process writes, in milliseconds; then STORAGE_UNAVAILABLE. Default 10,000. */
  readonly busyTimeoutMs?: number;
}

/**
 * Opens on first use; a store that is only read is not made. Runs in WAL mode with `synchronous=FULL`: what is acknowledged survives
 * power loss. Nothing blocks the event loop: SQLite works in a thread, and all that wait share a commit.
 *
 * @throws (from its calls) DEPENDENCY_MISSING without an SQLite to use, UNSUPPORTED_VERSION for a file of a newer release, STORAGE_FAILED for
 * a file of another program
 */
export class SqliteStorage extends SqlStorage {
  readonly file: string;
  readonly place: string;

  constructor(file: string, options: SqliteStorageOptions = {}) {
    const full = path.resolve(file);
    super(new SqliteEngine(full, options.busyTimeoutMs ?? 10_000), options);
    this.file = full;
    this.place = `sqlite:${full}`;
  }
}
