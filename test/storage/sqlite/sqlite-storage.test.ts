/** What is particular to SQLite: its settings, its file, its migrations. The contract is held by the conformance suite. */
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/storage/sqlite/open-database.js';
import { loadSqliteDriver, type SqliteDatabase } from '../../../src/storage/sqlite/sqlite-driver.js';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.js';

let folder: string;
let file: string;
const opened: SqliteStorage[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-sqlite-'));
  file = path.join(folder, 'deep', 'store.db');
});

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  await rm(folder, { recursive: true, force: true });
});

function open(options: ConstructorParameters<typeof SqliteStorage>[1] = {}): SqliteStorage {
  const storage = new SqliteStorage(file, options);
  opened.push(storage);
  return storage;
}

async function raw<T>(use: (database: SqliteDatabase) => T): Promise<T> {
  const { DatabaseSync } = await loadSqliteDriver();
  const database = new DatabaseSync(file);
  try {
    return use(database);
  } finally {
    database.close();
  }
}

async function written(storage = open()): Promise<void> {
  const journal = await storage.openJournal(['agents', 'one', 'traces']);
  await journal.append([{ n: 1 }]);
  await journal.close();
}

describe('the settings', () => {
  it('sync each commit that is acknowledged, and the log of what need not last by itself before it is folded in', async () => {
    const connections = openDatabase(await loadSqliteDriver(), path.join(folder, 'settings.db'), 1_000);
    try {
      for (const [connection, synchronous] of [
        [connections.durable, 2],
        [connections.volatile, 1],
      ] as const) {
        // The setting says one thing before the first write and may say another after it.
        connection.exec('CREATE TABLE IF NOT EXISTS written (n INTEGER); INSERT INTO written VALUES (1)');
        expect(connection.get('PRAGMA synchronous')).toEqual({ synchronous });
        expect(connection.get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
      }
    } finally {
      connections.durable.close();
      connections.volatile.close();
    }
  });
});

describe('the file', () => {
  it('is made with its folder on the first write, for its owner alone', async () => {
    await written();
    const modes = await Promise.all(
      [file, `${file}-wal`].map(async (name) => (await stat(name)).mode & 0o777),
    );
    expect(modes).toEqual([0o600, 0o600]);
    expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
  });

  it('does not hold records any more that were removed', async () => {
    const journal = await open().openJournal(['agents', 'one', 'traces']);
    await journal.append([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await journal.removeBefore(3);
    await journal.close();
    const rows = await raw((database) => database.prepare('SELECT count(*) AS n FROM records').get());
    expect(rows).toEqual({ n: 1 });
  });

  it('is not made by reading', async () => {
    const storage = open();
    expect(await storage.listNames([])).toEqual([]);
    expect(await storage.documents.read(['x'])).toBeNull();
    const reader = await storage.openJournal(['agents', 'one', 'traces'], { readOnly: true });
    expect((await reader.head()).seq).toBe(0);
    await expect(stat(path.dirname(file))).rejects.toThrow('ENOENT');
  });

  it('that is a link is refused with PATH_REFUSED, and what it points to stays', async () => {
    file = path.join(folder, 'link.db');
    const target = path.join(folder, 'target');
    await writeFile(target, '');
    await symlink(target, file);
    await expect(written()).rejects.toMatchObject({ code: 'PATH_REFUSED' });
    expect((await stat(target)).size).toBe(0);
  });

  it('of another program is refused, and not changed', async () => {
    file = path.join(folder, 'other.db');
    await raw((database) => database.exec('CREATE TABLE mine (x)'));
    await expect(written()).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    const tables = await raw((database) => database.prepare('SELECT name FROM sqlite_schema').all());
    expect(tables).toMatchObject([{ name: 'mine' }]);
  });

  it('that is no database is refused, and not changed', async () => {
    file = path.join(folder, 'text.db');
    await writeFile(file, 'no database, but long enough to look like one '.repeat(40));
    await expect(written()).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    expect((await stat(file)).size).toBe(1_840);
  });

  it('of a newer release is refused with UNSUPPORTED_VERSION, and not changed', async () => {
    await written();
    await opened[0]!.close();
    await raw((database) => database.exec('PRAGMA user_version = 99'));
    const again = open();
    await expect(written(again)).rejects.toMatchObject({
      code: 'UNSUPPORTED_VERSION',
      details: { version: 99 },
    });
    await expect(again.listNames([])).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
  });
});

describe('durability', () => {
  it('is WAL and FULL', async () => {
    await written();
    expect(await raw((database) => database.prepare('PRAGMA journal_mode').get())).toMatchObject({
      journal_mode: 'wal',
    });
  });

  it('gives all who wait one transaction: 200 appends of 50 agents take far fewer commits', async () => {
    const storage = open();
    const journals = await Promise.all(
      Array.from({ length: 50 }, (_, agent) => storage.openJournal(['agents', `a${agent}`, 'traces'])),
    );
    const before = await frames();
    await Promise.all(journals.flatMap((journal) => [1, 2, 3, 4].map((n) => journal.append([{ n }]))));
    const commits = await commitsSince(before);
    expect(commits).toBeGreaterThan(0);
    expect(commits).toBeLessThan(20);
  });
});

/** Frames in the log: each of 24 bytes and a page; the second number of a frame's head is not 0 where a commit ends. */
async function walBytes(): Promise<Buffer> {
  const { readFile } = await import('node:fs/promises');
  return readFile(`${file}-wal`);
}

async function frames(): Promise<number> {
  return (await walBytes()).length;
}

async function commitsSince(start: number): Promise<number> {
  const bytes = await walBytes();
  const pageBytes = bytes.readUInt32BE(8);
  let commits = 0;
  for (let at = Math.max(start, 32); at + 24 + pageBytes <= bytes.length; at += 24 + pageBytes) {
    if (bytes.readUInt32BE(at + 4) !== 0) commits += 1;
  }
  return commits;
}

describe('two stores of one file', () => {
  it('wait for each other, and say STORAGE_UNAVAILABLE when the other does not end', async () => {
    await written();
    const patient = open({ busyTimeoutMs: 50 });
    await written(patient);
    const { DatabaseSync } = await loadSqliteDriver();
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(patient.documents.write(['x'], 1)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    other.exec('COMMIT');
    other.close();
    await patient.documents.write(['x'], 2);
    expect((await patient.documents.read(['x']))?.value).toBe(2);
  });
});

describe('a damaged row', () => {
  it('is told with its place, and a repair leaves the others and keeps it beside', async () => {
    const storage = open();
    const journal = await storage.openJournal(['agents', 'one', 'traces']);
    for (const n of [1, 2, 3, 4]) await journal.append([{ n }]);
    await raw((database) => {
      database.exec(`UPDATE records SET body = '{"n":7}' WHERE body = '{"n":2}'`);
      database.exec(`DELETE FROM records WHERE body = '{"n":3}'`);
    });
    const seen = [];
    for await (const entry of journal.read()) seen.push(entry.kind === 'record' ? entry.seq : entry.reason);
    expect(seen).toEqual([1, 'checksum', 'sequence-gap', 4]);
    const backward = [];
    for await (const entry of journal.readBackward())
      backward.push(entry.kind === 'record' ? entry.seq : entry.reason);
    expect(backward).toEqual([4, 'sequence-gap', 'checksum', 1]);
    expect(await journal.repair()).toMatchObject([{ ranges: 2 }]);
    const after = [];
    for await (const entry of journal.read()) after.push(entry.kind === 'record' ? entry.seq : entry.reason);
    expect(after).toEqual([1, 4]);
    expect(await journal.repair()).toEqual([]);
    const kept = await raw((database) =>
      database.prepare('SELECT seq, CAST(body AS TEXT) AS body FROM damaged_records').all(),
    );
    expect(kept).toMatchObject([{ seq: 2, body: '{"n":7}' }]);
  });
});
