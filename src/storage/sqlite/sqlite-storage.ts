/** The SQLite backend: everything in one file, for one machine and any number of its processes. */
import path from 'node:path';
import { SqlStorage, type SqlStorageOptions } from '../sql/sql-storage.js';
import { SqliteEngine } from './sqlite-engine.js';

/** Options of `SqliteStorage`. All are optional. */
export interface SqliteStorageOptions extends SqlStorageOptions {
  /**
   * How long a commit waits while another process writes, in milliseconds; then it fails with STORAGE_UNAVAILABLE.
   * Default 10,000.
   */
  readonly busyTimeoutMs?: number;
}

/**
 * Stores everything in one SQLite file. Opens on first use; reading never creates a store. Runs in WAL mode
 * (write-ahead log) with `synchronous=FULL`: acknowledged data survives power loss. SQLite runs on a worker thread and
 * batches waiting commits into one sync, so the event loop is never blocked.
 *
 * @throws (from its calls) DEPENDENCY_MISSING without a usable SQLite, UNSUPPORTED_VERSION for a file of a newer
 * release, STORAGE_FAILED for a file of another program
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
