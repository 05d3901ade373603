/** The PostgreSQL backend: a store that many machines share. */
import { RekindleError } from '../../core/errors.js';
import { SqlStorage, type SqlStorageOptions } from '../sql/sql-storage.js';
import { PostgresEngine } from './postgres-engine.js';
import { PostgresPool } from './postgres-pool.js';

/** Options of `PostgresStorage`. All are optional. */
export interface PostgresStorageOptions extends SqlStorageOptions {
  /** Default `rekindle`. Lower-case letters, digits and `_`. */
  readonly schema?: string;
  /** Maximum connections of this process, plus one that listens while something is watched. Default 10. */
  readonly connectionsMax?: number;
  /**
   * Time limit of an operation in milliseconds, whatever happens to the server or the network. A call may need two
   * operations. Default 15,000.
   */
  readonly deadlineMs?: number;
  /** Time limit of a statement in milliseconds; it is retried within the deadline. Default 5,000. */
  readonly queryMs?: number;
  /** Number of journal tables in a new schema, by hash of the journal; 0 for an engine that partitions by itself. Default 16. */
  readonly partitions?: number;
  /** Plan each statement once per connection. Default true; use false behind a pooler without prepared statements. */
  readonly prepare?: boolean;
  /**
   * Notify other processes of changes, so that their `watch` need not poll. Default true; use false if nothing watches,
   * or without LISTEN.
   */
  readonly notify?: boolean;
  /**
   * Commit caches and heartbeats without waiting for the disk (`synchronous_commit = off`, for them only). Default
   * true; use false if the engine has no such setting.
   */
  readonly unsyncedCommits?: boolean;
}

/**
 * Stores everything in PostgreSQL, for any number of machines. Connects on first use; reading never creates a schema.
 * Acknowledged data was committed with the server's `synchronous_commit`, which must not be off.
 *
 * @throws (from its calls) DEPENDENCY_MISSING without the package pg, STORAGE_UNAVAILABLE if the server did not answer
 * in time, TLS_FAILED if a remote server offers no TLS or its certificate is rejected, JOURNAL_OUTCOME_UNKNOWN if the
 * answer to an append was lost and could not be determined in time, UNSUPPORTED_VERSION
 */
export class PostgresStorage extends SqlStorage {
  readonly place: string;

  /** @param url `postgres://user:password@host:port/database` */
  constructor(url: string, options: PostgresStorageOptions = {}) {
    const { schema = 'rekindle', queryMs = 5_000, deadlineMs = 15_000 } = options;
    const place = `${withoutPassword(url)} (schema ${schema})`;
    if (!/^[a-z_][a-z0-9_]{0,49}$/.test(schema)) {
      throw new RekindleError('INVALID_ARGUMENT', 'A schema has lower-case letters, digits and _.', {
        details: { argument: 'schema', schema },
      });
    }
    const pool = new PostgresPool({
      url,
      connectionsMax: options.connectionsMax ?? 10,
      connectMs: Math.min(queryMs, deadlineMs),
      queryMs: Math.min(queryMs, deadlineMs),
      prepare: options.prepare ?? true,
    });
    const engine = new PostgresEngine(pool, {
      url,
      place,
      schema,
      deadlineMs,
      partitions: options.partitions ?? 16,
      notify: options.notify ?? true,
      unsyncedCommits: options.unsyncedCommits ?? true,
    });
    super(engine, options);
    this.place = place;
  }
}

/** @throws INVALID_ARGUMENT for anything but a PostgreSQL URL */
function withoutPassword(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new RekindleError(
      'INVALID_ARGUMENT',
      'Not a URL such as postgres://user:password@host:5432/database.',
      {
        details: { argument: 'url' },
      },
    );
  }
  return `postgres://${parsed.username ? `${parsed.username}@` : ''}${parsed.host}${parsed.pathname}`;
}
