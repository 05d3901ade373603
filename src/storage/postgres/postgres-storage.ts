/** The PostgreSQL backend: many machines share one store. */
import { RekindleError } from '../../core/errors.js';
import { SqlStorage, type SqlStorageOptions } from '../sql/sql-storage.js';
import { PostgresEngine } from './postgres-engine.js';
import { PostgresPool } from './postgres-pool.js';

export interface PostgresStorageOptions extends SqlStorageOptions {
  /** Default `rekindle`. Lower-case letters, digits and `_`. */
  readonly schema?: string;
  /** Most connections of this process, beside one that listens while something watches. Default 10. */
  readonly connectionsMax?: number;
  /** An operation ends within this time, whatever happens to the server or the network, in milliseconds; a call may be two of them. Default 15,000. */
  readonly deadlineMs?: number;
  /** A statement ends within this time; within the deadline it is tried again. Default 5,000. */
  readonly queryMs?: number;
  /** Tables of journals that a new schema is made with, by hash of the journal; 0 for an engine that partitions by itself. Default 16. */
  readonly partitions?: number;
  /** Plan each statement once a connection. Default true; false behind a pooler that knows no prepared statements. */
  readonly prepare?: boolean;
  /** Tell other processes of changes, so that their `watch` need not look. Default true; false where nobody watches, or LISTEN is not to be had. */
  readonly notify?: boolean;
  /** Let caches and heartbeats be committed without waiting for the disk (`synchronous_commit = off`, theirs alone). Default true; false where the engine has no such setting. */
  readonly unsyncedCommits?: boolean;
}

/**
 * Connects on first use; a schema that is only read is not made. What is acknowledged was committed with the server's
 * `synchronous_commit`, which must not be off.
 *
 * @throws (from its calls) DEPENDENCY_MISSING without the package pg, STORAGE_UNAVAILABLE when the server did not answer in time,
 * TLS_FAILED when a remote server offers no TLS or its certificate is not accepted, JOURNAL_OUTCOME_UNKNOWN when the answer to an append was lost and could not be found in time, UNSUPPORTED_VERSION
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

/** @throws INVALID_ARGUMENT for what is no URL of PostgreSQL */
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
