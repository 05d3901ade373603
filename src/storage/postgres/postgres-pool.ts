/** Connections on which each call has a time limit: with the driver's own settings, a client waits forever on a cut network. */
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase, ClientConfig, Pool, PoolClient, QueryResultRow } from 'pg';
import { RekindleError } from '../../core/errors.js';
import { withSecurity } from './connection-security.js';
import { connectionLives } from './postgres-errors.js';

export interface PoolOptions {
  readonly url: string;
  readonly connectionsMax: number;
  readonly connectMs: number;
  readonly queryMs: number;
  /** Plans statements once per connection. Turn off behind a pooler without prepared statements. */
  readonly prepare: boolean;
}

const GOODBYE_MS = 2_000;

export type PgModule = Pick<typeof import('pg'), 'Client' | 'Pool' | 'types'>;

/** @throws DEPENDENCY_MISSING */
export async function loadPg(): Promise<PgModule> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    throw new RekindleError('DEPENDENCY_MISSING', 'PostgreSQL needs the package pg: npm install pg', {
      details: { package: 'pg' },
      cause,
    });
  }
}

export class PostgresPool {
  readonly #options: PoolOptions;
  readonly #idle = new Set<PoolClient>();
  #pool: Promise<Pool> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Waits at most `withinMs`. A connection that comes later is returned to the pool. */
  async connect(withinMs: number): Promise<PoolClient> {
    this.#pool ??= this.#make();
    const connecting = this.#pool.then((pool) => pool.connect());
    const timer = new AbortController();
    const late = sleep(withinMs, null, { signal: timer.signal }).catch(() => null);
    const client = await Promise.race([connecting, late]);
    timer.abort();
    if (client) return client;
    connecting.then(
      (unused) => unused.release(),
      () => {},
    );
    throw new RekindleError('STORAGE_UNAVAILABLE', `No connection within ${Math.round(withinMs)} ms.`);
  }

  get queryMs(): number {
    return this.#options.queryMs;
  }

  get prepare(): boolean {
    return this.#options.prepare;
  }

  async #make(): Promise<Pool> {
    const pg = await loadPg();
    const { url, connectionsMax, connectMs, queryMs } = this.#options;
    // Set here instead of at connection start, where a pooler rejects settings. One by one, because not every engine
    // knows all of them.
    const settings = [
      `SET statement_timeout = ${Math.max(1, queryMs - 250)}`, // the server times out first, and reports it
      `SET idle_in_transaction_session_timeout = ${4 * queryMs}`,
      'SET plan_cache_mode = force_generic_plan', // otherwise a statement on partitions is planned again each time
    ];
    const pool = new pg.Pool({
      ...clientOptions(pg, url),
      max: connectionsMax,
      connectionTimeoutMillis: connectMs,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      onConnect: async (client) => {
        for (const setting of settings) await applySetting(client, setting, queryMs);
      },
    });
    pool.on('error', () => {}); // an idle connection that was lost is replaced when it is needed
    // Between two statements nothing else handles this event, and it would end the process.
    pool.on('connect', (client) => void client.on('error', () => {}));
    pool.on('acquire', (client) => void this.#idle.delete(client));
    pool.on('release', (thrown, client) => void (thrown || this.#idle.add(client)));
    pool.on('remove', (client) => void this.#idle.delete(client));
    return pool;
  }

  /** After a lost connection the idle ones are probably lost too, and each would cost a time-out. */
  distrust(): void {
    for (const client of this.#idle) destroyConnection(client);
  }

  /** Does not wait for an unreachable server. */
  async close(): Promise<void> {
    const pool = await this.#pool?.catch(() => null);
    this.#pool = null;
    await Promise.race([pool?.end(), sleep(GOODBYE_MS, undefined, { ref: false })]);
    this.distrust();
  }
}

/** Skips a setting that the engine does not know. Drops a connection that does not answer. */
async function applySetting(client: ClientBase, text: string, queryMs: number): Promise<void> {
  const config = { text, query_timeout: queryMs };
  try {
    await client.query(config);
  } catch (thrown) {
    if (!connectionLives(thrown)) throw thrown;
  }
}

/** Without a normal disconnect, which an unresponsive server would not complete. */
export function destroyConnection(client: ClientBase): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Duplex } };
  connection.stream.destroy();
}

export function clientOptions(pg: PgModule, url: string): ClientConfig {
  return withSecurity(pg, {
    connectionString: url,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'rekindle',
    types: {
      // Sequence numbers, sizes and times are far below 2^53.
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === 20 ? Number : pg.types.getTypeParser(oid, format as 'text'),
    },
  });
}

export type Values = readonly (string | number | boolean | null | Uint8Array | readonly string[])[];

export interface Queryable {
  query<Row extends QueryResultRow>(sql: string, values?: Values): Promise<Row[]>;
  /** The number of changed rows. */
  change(sql: string, values?: Values): Promise<number>;
}

/** One try of an operation. */
export class PostgresAttempt implements Queryable {
  readonly #pool: PostgresPool;
  readonly #deadline: number;
  /** An earlier try may have taken effect. */
  readonly unsure: boolean;
  /** A statement was sent. */
  sent = false;

  /** @param deadline on the clock of `performance.now()`; no statement waits longer */
  constructor(pool: PostgresPool, deadline: number, unsure: boolean) {
    this.#pool = pool;
    this.#deadline = deadline;
    this.unsure = unsure;
  }

  get #leftMs(): number {
    return Math.max(1, this.#deadline - performance.now());
  }

  query<Row extends QueryResultRow>(sql: string, values: Values = []): Promise<Row[]> {
    return this.#with((client) => this.#onClient(client).query<Row>(sql, values));
  }

  change(sql: string, values: Values = []): Promise<number> {
    return this.#with((client) => this.#onClient(client).change(sql, values));
  }

  /** All or nothing. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return this.#with(async (client) => {
      const tx = this.#onClient(client);
      await tx.query('BEGIN');
      try {
        const result = await work(tx);
        await tx.query('COMMIT');
        return result;
      } catch (thrown) {
        if (connectionLives(thrown)) await tx.query('ROLLBACK');
        throw thrown;
      }
    });
  }

  async #with<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect(this.#leftMs);
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (thrown) {
      const lives = connectionLives(thrown);
      client.release(!lives); // a connection that timed out may deliver the old answer to the next statement
      if (!lives) this.#pool.distrust();
      throw thrown;
    }
  }

  #onClient(client: PoolClient): Queryable {
    const run = async <Row extends QueryResultRow>(text: string, values: Values) => {
      this.sent = true;
      const name = this.#pool.prepare && values.length > 0 ? { name: nameOf(text) } : {};
      const query_timeout = Math.ceil(Math.min(this.#pool.queryMs, this.#leftMs));
      // The driver's types lack its option `query_timeout`.
      const config = { text, values: values.map(bound), query_timeout, ...name };
      return client.query<Row>(config);
    };
    return {
      query: async <Row extends QueryResultRow>(sql: string, values: Values = []) =>
        (await run<Row>(sql, values)).rows,
      change: async (sql, values = []) => (await run(sql, values)).rowCount ?? 0,
    };
  }
}

/** The driver sends a `Uint8Array` as bytes only if it is a `Buffer`. */
function bound(value: Values[number]): unknown {
  if (!(value instanceof Uint8Array)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.length);
}

const names = new Map<string, string>();

/** One name per statement text; there are few texts. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (!name) names.set(text, (name = `rekindle_${names.size + 1}`));
  return name;
}
