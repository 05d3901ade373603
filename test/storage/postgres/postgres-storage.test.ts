/** What is particular to PostgreSQL: its schema, its time limits. The contract is held by the conformance suite, faults by `test/faults`. */
import { createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.js';
import { postgresMissing } from '../../support/postgres-cluster.js';
import { newSchemaName, testPostgres } from '../../support/postgres-schema.js';

const opened: PostgresStorage[] = [];
const schemas: string[] = [];
let silent: { readonly server: Server; readonly sockets: Set<Socket> } | null = null;

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  for (const schema of schemas.splice(0)) await query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  for (const socket of silent?.sockets ?? []) socket.destroy();
  silent?.server.close();
  silent = null;
});

function open(url: string, options: ConstructorParameters<typeof PostgresStorage>[1] = {}): PostgresStorage {
  const storage = new PostgresStorage(url, options);
  opened.push(storage);
  return storage;
}

async function query(sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: testPostgres()! });
  await client.connect();
  try {
    await client.query('SET client_min_messages = warning');
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

describe('a server that is not there', () => {
  it('is STORAGE_UNAVAILABLE within the deadline, without the password', async () => {
    const storage = open('postgres://me:secret@127.0.0.1:1/agents', { deadlineMs: 400 });
    const start = performance.now();
    const thrown: unknown = await storage.documents.read(['x']).catch((error: unknown) => error);
    expect(performance.now() - start).toBeLessThan(1_400);
    expect(thrown).toMatchObject({ code: 'STORAGE_UNAVAILABLE', details: { doing: 'readDocument' } });
    expect(JSON.stringify(thrown)).not.toContain('secret');
  });

  it('that accepts and says nothing is STORAGE_UNAVAILABLE too, and close() ends', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
    silent = { server, sockets };
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const storage = open(`postgres://me:secret@127.0.0.1:${port}/agents`, { deadlineMs: 500, queryMs: 200 });
    await expect(storage.documents.write(['x'], 1)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    const start = performance.now();
    await storage.close();
    expect(performance.now() - start).toBeLessThan(3_000);
  });
});

describe.skipIf(testPostgres() === null)(
  `a schema (${testPostgres() ? 'server found' : postgresMissing()})`,
  () => {
    const newSchema = () => {
      const schema = newSchemaName();
      schemas.push(schema);
      return schema;
    };

    it('does not take what a fenced owner writes, also before the new owner has opened the journal', async () => {
      const storage = open(testPostgres()!, { schema: newSchema() });
      const lease = await storage.leases.acquire(['agents', 'one']);
      const journal = await storage.openJournal(['agents', 'one', 'traces'], { lease });
      await journal.append([{ n: 1 }]);
      const next = await storage.leases.acquire(['agents', 'one'], { force: true });
      await expect(journal.append([{ n: 2 }])).rejects.toMatchObject({ code: 'LEASE_LOST' });
      const reader = await storage.openJournal(['agents', 'one', 'traces'], { lease: next });
      expect((await reader.head()).seq).toBe(1);
    });

    it('is not made by reading, and is made by the first write', async () => {
      const schema = newSchema();
      const storage = open(testPostgres()!, { schema, partitions: 2 });
      expect(await storage.listNames([])).toEqual([]);
      const find = `SELECT count(*)::int AS found FROM pg_namespace WHERE nspname = '${schema}'`;
      expect((await query(find)).rows).toEqual([{ found: 0 }]);
      await storage.documents.write(['x'], 1);
      expect((await query(find)).rows).toEqual([{ found: 1 }]);
    });

    it('is made once by many who begin at the same time', async () => {
      const schema = newSchema();
      const many = Array.from({ length: 6 }, () => open(testPostgres()!, { schema, partitions: 2 }));
      await Promise.all(many.map((storage, n) => storage.documents.write(['docs', String(n)], n)));
      expect(await many[0]!.documents.list(['docs'])).toEqual(['0', '1', '2', '3', '4', '5']);
      expect((await query(`SELECT version::int FROM ${schema}.migrations`)).rows).toEqual([{ version: 1 }]);
    });

    it('of a newer release is refused with UNSUPPORTED_VERSION, by readers too', async () => {
      const schema = newSchema();
      await open(testPostgres()!, { schema, partitions: 2 }).documents.write(['x'], 1);
      await query(`INSERT INTO ${schema}.migrations VALUES (99)`);
      const later = open(testPostgres()!, { schema });
      await expect(later.documents.read(['x'])).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
      await expect(later.documents.write(['x'], 2)).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
    });

    it('with a damaged row tells it with its place, and a repair keeps it beside', async () => {
      const schema = newSchema();
      const storage = open(testPostgres()!, { schema, partitions: 2 });
      const journal = await storage.openJournal(['agents', 'one', 'traces']);
      for (const n of [1, 2, 3, 4]) await journal.append([{ n }]);
      await query(`UPDATE ${schema}.records SET body = '{"n":7}' WHERE seq = 2`);
      await query(`DELETE FROM ${schema}.records WHERE seq = 3`);
      const seen = async () => {
        const entries = [];
        for await (const entry of journal.read())
          entries.push(entry.kind === 'record' ? entry.seq : entry.reason);
        return entries;
      };
      expect(await seen()).toEqual([1, 'checksum', 'sequence-gap', 4]);
      expect(await journal.repair()).toMatchObject([{ ranges: 2 }]);
      expect(await seen()).toEqual([1, 4]);
      expect((await query(`SELECT seq::int, body FROM ${schema}.damaged_records`)).rows).toEqual([
        { seq: 2, body: '{"n":7}' },
      ]);
    });
  },
);
