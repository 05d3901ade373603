/**
 * Notifies other processes of changes. Hints are sent outside the commits, because a NOTIFY in a transaction makes all
 * commits of the database wait for each other. So a hint can be lost, with its sender or its receiver. Listeners
 * therefore compare what is stored after each reconnect, and from time to time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { connectionLives } from './postgres-errors.js';
import {
  clientOptions,
  destroyConnection,
  loadPg,
  PostgresAttempt,
  type PostgresPool,
} from './postgres-pool.js';

/** Hints within this many milliseconds are sent together. */
const GATHER_MS = 5;
/** The limit of a payload is 8,000 bytes. */
const PAYLOAD_BYTES = 7_000;
/** A cut connection is noticed, and a change reported, within five seconds. */
const PING_MS = 2_000;
const ANSWER_MS = 2_000;
/** A later hint is useless. */
const HINT_MS = 3_000;
const GOODBYE_MS = 1_000;
const AGAIN_MS = 100;
const AGAIN_MAX_MS = 5_000;

function channelOf(schema: string): string {
  return `rekindle_${schema}`.slice(0, 63);
}

export class PostgresNotifier {
  readonly #pool: PostgresPool;
  readonly #channel: string;
  readonly #keys = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> = Promise.resolve();

  constructor(pool: PostgresPool, schema: string) {
    this.#pool = pool;
    this.#channel = channelOf(schema);
  }

  tell(keys: readonly string[]): void {
    if (keys.length === 0) return;
    for (const key of keys) this.#keys.add(key);
    this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  #flush(): void {
    this.#timer = null;
    const keys = [...this.#keys];
    this.#keys.clear();
    const send = async () => {
      const db = new PostgresAttempt(this.#pool, performance.now() + HINT_MS, false);
      for (const payload of payloadsOf(keys))
        await db.query('SELECT pg_notify($1, $2)', [this.#channel, payload]);
    };
    this.#sending = this.#sending.then(send).catch(() => {}); // only a hint; see above
  }

  async close(): Promise<void> {
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#flush();
    }
    await this.#sending;
  }
}

function payloadsOf(keys: readonly string[]): string[] {
  const payloads: string[] = [];
  let payload = '';
  for (const key of keys) {
    if (payload && payload.length + key.length >= PAYLOAD_BYTES) {
      payloads.push(payload);
      payload = '';
    }
    // A key longer than a payload cannot be sent: anything may have changed.
    payload += key.length >= PAYLOAD_BYTES ? '*\n' : `${key}\n`;
  }
  return payload ? [...payloads, payload] : payloads;
}

export class PostgresListener {
  readonly #options: { readonly url: string; readonly schema: string };
  readonly #onHint: (keys: readonly string[] | null) => void;
  #client: Client | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(
    options: { readonly url: string; readonly schema: string },
    onHint: (keys: readonly string[] | null) => void,
  ) {
    this.#options = options;
    this.#onHint = onHint;
  }

  /** Waits for the first connection, but does not require it: without one, what is stored is compared. */
  async start(): Promise<void> {
    await loadPg();
    await this.#connect(AGAIN_MS);
  }

  async #connect(pause: number): Promise<void> {
    const pg = await loadPg();
    const client = new pg.Client({
      ...clientOptions(pg, this.#options.url),
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
    });
    const lost = () => {
      if (this.#client === client) this.#again(AGAIN_MS);
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload = '' }) => this.#hint(payload));
    this.#client = client;
    try {
      await client.connect();
      await this.#listen(client);
      if (this.#stopped) await this.stop();
      else this.#ping(client);
    } catch {
      this.#again(pause);
    }
  }

  /** If the engine has no LISTEN, what is stored is compared at every ping. */
  async #listen(client: Client): Promise<void> {
    try {
      await client.query(`LISTEN "${channelOf(this.#options.schema)}"`);
    } catch (thrown) {
      if (!connectionLives(thrown)) throw thrown;
    }
  }

  #hint(payload: string): void {
    const keys = payload.split('\n').filter((key) => key !== '');
    this.#onHint(keys.includes('*') ? null : keys);
  }

  /** A cut connection delivers nothing and reports nothing, so it is pinged. */
  #ping(client: Client): void {
    this.#onHint(null);
    this.#timer = setTimeout(() => {
      client.query('SELECT 1').then(
        () => {
          if (this.#client === client) this.#ping(client);
        },
        () => {
          if (this.#client === client) this.#again(AGAIN_MS);
        },
      );
    }, PING_MS);
    this.#timer.unref();
  }

  #again(pause: number): void {
    void this.#drop();
    if (this.#stopped) return;
    this.#onHint(null);
    this.#timer = setTimeout(() => void this.#connect(Math.min(2 * pause, AGAIN_MAX_MS)), pause);
    this.#timer.unref();
  }

  #drop(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = null;
    return client ? endClient(client) : Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#drop();
  }
}

/** An unreachable server does not complete a normal disconnect. */
async function endClient(client: Client): Promise<void> {
  const ended = client.end().catch(() => {});
  const given = sleep(GOODBYE_MS, 'late', { ref: false });
  if ((await Promise.race([ended, given])) !== 'late') return;
  destroyConnection(client);
}
