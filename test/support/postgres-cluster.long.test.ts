import { existsSync } from 'node:fs';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { type PostgresCluster, postgresMissing, startPostgres } from './postgres-cluster.js';

const cluster = await startPostgres();
if (cluster === null) console.warn(postgresMissing());

describe.skipIf(cluster === null)('a PostgreSQL cluster for tests', () => {
  const { url, dataDir, port, kill, start, stop } = bound(cluster);
  afterAll(() => stop());

  async function query(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }

  it('answers, on the loopback address alone, with fsync on', async () => {
    const [row] = await query(`SELECT current_setting('listen_addresses') AS at, inet_server_port() AS port,
      current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding`);
    expect(row).toEqual({ at: '127.0.0.1', port, fsync: 'on', encoding: 'UTF8' });
  });

  it('refuses a wrong password', async () => {
    const client = new pg.Client({ connectionString: url.replace(/:[0-9a-f]+@/, ':wrong@') });
    await expect(client.connect()).rejects.toMatchObject({ code: '28P01' });
  });

  it('keeps a committed row when it is killed and started again', async () => {
    await query('CREATE TABLE kept (id int PRIMARY KEY)');
    await query('INSERT INTO kept VALUES (7)');
    const open = new pg.Client({ connectionString: url });
    const broken = new Promise((resolve) => open.on('error', resolve));
    await open.connect();
    await kill();
    await broken;
    await expect(query('SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await start();
    expect(await query('SELECT id FROM kept')).toEqual([{ id: 7 }]);
  });

  it('leaves nothing behind when it is stopped', async () => {
    await stop();
    expect(existsSync(dataDir)).toBe(false);
    await expect(query('SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

function bound(of: PostgresCluster | null) {
  return {
    url: of?.url ?? '',
    dataDir: of?.dataDir ?? '',
    port: of?.port ?? 0,
    kill: async () => of?.kill(),
    start: async () => of?.start(),
    stop: async () => of?.stop(),
  };
}
