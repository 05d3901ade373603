/**
 * The backends under test, and for each the plain limit of its engine: the same driver and the same guarantee, with nothing around it.
 *
 * - file: `write` at the end of a file and `fdatasync`;
 * - SQLite: the same driver on the calling thread (no thread hop), WAL, `synchronous=FULL`, one INSERT a commit;
 * - PostgreSQL: `pg` on one connection (64 writers: a pool of ten), one prepared INSERT, committed by itself.
 */
import { type FileHandle, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { FileStorage } from '../src/storage/file/file-storage.js';
import type { StorageBackend } from '../src/storage/ports.js';
import { PostgresStorage } from '../src/storage/postgres/postgres-storage.js';
import { loadSqliteDriver, type SqliteDatabase } from '../src/storage/sqlite/sqlite-driver.js';
import { SqliteStorage } from '../src/storage/sqlite/sqlite-storage.js';
import { postgresMissing, startPostgres } from '../test/support/postgres-cluster.js';

/** One durable commit of these texts. */
export type PlainWrite = (texts: readonly string[]) => Promise<void>;

export interface PlainStore {
  /** Each as an agent of its own has it. */
  writers(count: number): Promise<PlainWrite[]>;
  /** Rows to be read by `readAll`. */
  fill(texts: readonly string[]): Promise<void>;
  /** All of them in order, each parsed. */
  readAll(): Promise<unknown[]>;
  close(): Promise<void>;
}

/** Bytes on the disk. */
export interface StoredSize {
  readonly total: number;
  /** Of which the cache, which could be made anew. */
  readonly cache: number;
}

/** One store of a backend, empty at first. */
export interface BenchStore {
  /** A new backend object, with its thread or its first connection there. */
  open(): Promise<StorageBackend>;
  openPlain(): Promise<PlainStore>;
  /** When nothing has it open. */
  size(): Promise<StoredSize>;
}

export interface Backend {
  readonly name: string;
  store(folder: string): BenchStore;
}

/** PostgreSQL only where it is installed; `end` stops it. */
export async function backends(): Promise<{ readonly list: Backend[]; readonly end: () => Promise<void> }> {
  const list: Backend[] = [
    { name: 'file', store: (folder) => fileStore(folder) },
    { name: 'SQLite', store: (folder) => sqliteStore(folder) },
  ];
  const cluster = await startPostgres();
  if (!cluster) {
    process.stdout.write(`PostgreSQL: ${postgresMissing()}\n`);
    return { list, end: async () => {} };
  }
  let stores = 0;
  list.push({ name: 'PostgreSQL', store: () => postgresStore(cluster.url, `bench_${++stores}`) });
  return { list, end: () => cluster.stop() };
}

async function warmed(storage: StorageBackend): Promise<StorageBackend> {
  await storage.leases.inspect(['agents', 'nobody']);
  return storage;
}

function fileStore(folder: string): BenchStore {
  const base = path.join(folder, 'store');
  return {
    open: () => warmed(new FileStorage(base)),
    openPlain: async () => new PlainFiles(folder),
    size: async () => {
      const names = await readdir(base, { recursive: true });
      const sizes = await Promise.all(names.map((name) => fileSize(path.join(base, name))));
      const cached = names.findIndex((name) => name.endsWith('working_context_snapshot.json'));
      return { total: sizes.reduce((sum, size) => sum + size, 0), cache: sizes[cached] ?? 0 };
    },
  };
}

async function fileSize(file: string): Promise<number> {
  const found = await stat(file);
  return found.isFile() ? found.size : 0;
}

class PlainFiles implements PlainStore {
  readonly #folder: string;
  readonly #handles: FileHandle[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  get #rows(): string {
    return path.join(this.#folder, 'plain-rows');
  }

  async writers(count: number): Promise<PlainWrite[]> {
    return Promise.all(Array.from({ length: count }, () => this.#writer()));
  }

  async #writer(): Promise<PlainWrite> {
    const handle = await open(path.join(this.#folder, `plain-${this.#handles.length}`), 'w');
    this.#handles.push(handle);
    let end = 0;
    return async (texts) => {
      const bytes = Buffer.from(`${texts.join('\n')}\n`);
      await handle.write(bytes, 0, bytes.length, end);
      await handle.datasync();
      end += bytes.length;
    };
  }

  async fill(texts: readonly string[]): Promise<void> {
    await writeFile(this.#rows, texts.join('\n'));
  }

  async readAll(): Promise<unknown[]> {
    const text = await readFile(this.#rows, 'utf8');
    return text.split('\n').map((line) => JSON.parse(line) as unknown);
  }

  async close(): Promise<void> {
    for (const handle of this.#handles) await handle.close();
  }
}

function sqliteStore(folder: string): BenchStore {
  const file = path.join(folder, 'store.db');
  const database = async (name: string) => {
    const { DatabaseSync } = await loadSqliteDriver();
    return new DatabaseSync(path.join(folder, name));
  };
  return {
    open: () => warmed(new SqliteStorage(file)),
    openPlain: async () => new PlainSqlite(await database('plain.db')),
    size: async () => {
      const db = await database('store.db');
      const sql = 'SELECT COALESCE(sum(length(bytes)), 0) AS cache FROM document_pieces';
      const { cache } = db.prepare(sql).get() as { cache: number };
      db.close();
      return { total: await fileSize(file), cache };
    },
  };
}

class PlainSqlite implements PlainStore {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    db.exec('CREATE TABLE plain (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT');
    db.exec('CREATE TABLE plain_rows (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT');
  }

  async writers(count: number): Promise<PlainWrite[]> {
    const insert = this.#db.prepare('INSERT INTO plain (body) VALUES (?)');
    const write: PlainWrite = async (texts) => {
      if (texts.length > 1) this.#db.exec('BEGIN IMMEDIATE');
      for (const text of texts) insert.run(text);
      if (texts.length > 1) this.#db.exec('COMMIT');
    };
    return Array.from({ length: count }, () => write);
  }

  async fill(texts: readonly string[]): Promise<void> {
    const insert = this.#db.prepare('INSERT INTO plain_rows (body) VALUES (?)');
    this.#db.exec('BEGIN');
    for (const text of texts) insert.run(text);
    this.#db.exec('COMMIT');
  }

  async readAll(): Promise<unknown[]> {
    const rows = this.#db.prepare('SELECT body FROM plain_rows ORDER BY id').all() as { body: string }[];
    return rows.map(({ body }) => JSON.parse(body) as unknown);
  }

  async close(): Promise<void> {
    this.#db.close();
  }
}

function postgresStore(url: string, schema: string): BenchStore {
  return {
    open: () => warmed(new PostgresStorage(url, { schema })),
    openPlain: () => PlainPostgres.open(url, `${schema}_plain`),
    size: async () => {
      const client = new pg.Client(url);
      await client.connect();
      // Of a partitioned table the parts count; an index and the long values come with their table.
      const sql = `
        SELECT sum(pg_total_relation_size(c.oid))::float8 AS total,
          sum(pg_total_relation_size(c.oid)) FILTER (WHERE relname LIKE 'document%')::float8 AS cache
        FROM pg_class c WHERE relnamespace = $1::regnamespace AND relkind = 'r'`;
      const { rows } = await client.query<StoredSize>(sql, [schema]);
      await client.end();
      return rows[0]!;
    },
  };
}

class PlainPostgres implements PlainStore {
  readonly #pool: pg.Pool;
  readonly #schema: string;

  static async open(url: string, schema: string): Promise<PlainPostgres> {
    const plain = new PlainPostgres(url, schema);
    await plain.#pool.query(`CREATE SCHEMA ${schema}`);
    for (const table of ['plain', 'plain_rows'])
      await plain.#pool.query(
        `CREATE TABLE ${schema}.${table} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL)`,
      );
    return plain;
  }

  private constructor(url: string, schema: string) {
    this.#pool = new pg.Pool({ connectionString: url, max: 10 });
    this.#schema = schema;
  }

  async writers(count: number): Promise<PlainWrite[]> {
    const text = `INSERT INTO ${this.#schema}.plain (body) SELECT unnest($1::text[])`;
    const one = `INSERT INTO ${this.#schema}.plain (body) VALUES ($1)`;
    const write: PlainWrite = async (texts) => {
      if (texts.length === 1) await this.#pool.query({ name: 'plain_one', text: one, values: [texts[0]] });
      else await this.#pool.query({ name: 'plain_many', text, values: [texts] });
    };
    return Array.from({ length: count }, () => write);
  }

  async fill(texts: readonly string[]): Promise<void> {
    for (let from = 0; from < texts.length; from += 1_000)
      await this.#pool.query(`INSERT INTO ${this.#schema}.plain_rows (body) SELECT unnest($1::text[])`, [
        texts.slice(from, from + 1_000),
      ]);
  }

  async readAll(): Promise<unknown[]> {
    const sql = `SELECT body FROM ${this.#schema}.plain_rows ORDER BY id`;
    const { rows } = await this.#pool.query<{ body: string }>(sql);
    return rows.map(({ body }) => JSON.parse(body) as unknown);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
