/** The store of a writer: the real one, or one with a bug that the campaign must find. */
import type { PoolClient } from 'pg';
import type { StorageBackend } from '../../src/storage/ports.js';
import { PostgresEngine } from '../../src/storage/postgres/postgres-engine.js';
import { PostgresAttempt, PostgresPool } from '../../src/storage/postgres/postgres-pool.js';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.js';
import { SqlStorage } from '../../src/storage/sql/sql-storage.js';

/** `blind-retry`: an append is tried again without a look for its key; `no-time-outs`: a client that waits as long as it takes. */
export type PostgresBug = 'blind-retry' | 'no-time-outs';

export interface StoreSettings {
  readonly url: string;
  readonly schema: string;
  readonly deadlineMs: number;
  readonly queryMs: number;
  readonly connectionsMax: number;
  readonly bug?: PostgresBug | undefined;
}

export function openPostgres(settings: StoreSettings): StorageBackend {
  if (settings.bug) return new BuggyStorage(settings, settings.bug);
  const { url, schema, deadlineMs, queryMs, connectionsMax } = settings;
  return new PostgresStorage(url, { schema, deadlineMs, queryMs, connectionsMax, partitions: 2 });
}

class BuggyStorage extends SqlStorage {
  readonly place = 'a store with a bug';

  constructor({ url, schema, deadlineMs, queryMs, connectionsMax }: StoreSettings, bug: PostgresBug) {
    const patient = bug === 'no-time-outs';
    const limits = patient ? { connectMs: 0, queryMs: 2 ** 30 } : { connectMs: queryMs, queryMs };
    const options = { url, connectionsMax, prepare: true, ...limits };
    const pool = patient ? new PostgresPool(options) : new ForgetfulPool(options);
    const rest = { url, schema, place: 'here', partitions: 2, notify: true, unsyncedCommits: true };
    super(new PostgresEngine(pool, { ...rest, deadlineMs: patient ? 2 ** 30 : deadlineMs }), {});
  }
}

/** Finds no append by its key. */
class ForgetfulPool extends PostgresPool {
  readonly #forgetful = new WeakSet<PoolClient>();

  override async connect(...args: Parameters<PostgresPool['connect']>): Promise<PoolClient> {
    const client = await super.connect(...args);
    if (this.#forgetful.has(client)) return client;
    this.#forgetful.add(client);
    const query = client.query.bind(client) as (...asked: unknown[]) => unknown;
    client.query = ((...asked: unknown[]) => {
      const { text = '' } = asked[0] as { readonly text?: string };
      return text.startsWith('SELECT append_key')
        ? Promise.resolve({ rows: [], rowCount: 0 })
        : query(...asked);
    }) as typeof client.query;
    return client;
  }
}

/** Calls back each time that this process finds an append by its key, after its answer was lost. */
export function observeFound(onFound: () => void): () => void {
  const { prototype } = PostgresAttempt;
  const { query } = prototype;
  prototype.query = async function observed(this: PostgresAttempt, sql, values) {
    const rows = await query.call(this, sql, values);
    if (this.unsure && sql.startsWith('SELECT append_key') && rows.length > 0) onFound();
    return rows;
  } as typeof query;
  return () => {
    prototype.query = query;
  };
}
