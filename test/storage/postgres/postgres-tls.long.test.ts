/**
 * A real server without and then with TLS. `0.0.0.0` reaches this machine on Linux and is not one of the addresses that are always local,
 * so it stands for a remote host here.
 */
import { execFileSync } from 'node:child_process';
import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.js';
import { type PostgresCluster, postgresMissing, startPostgres } from '../../support/postgres-cluster.js';

let cluster: PostgresCluster | null = null;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-tls-'));
  cluster = await startPostgres();
}, 90_000);

afterAll(async () => {
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

const certificate = () => path.join(folder, 'server.crt');
const remote = (query: string) => `${cluster!.url.replace('127.0.0.1', '0.0.0.0')}?schema=tls${query}`;

async function readFrom(url: string): Promise<unknown> {
  const storage = openStorage(url);
  try {
    await storage.documents.write(['seen'], 1);
    return (await storage.documents.read(['seen']))?.value;
  } catch (thrown) {
    return thrown;
  } finally {
    await storage.close();
  }
}

async function switchTlsOn(): Promise<void> {
  const key = path.join(folder, 'server.key');
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:0.0.0.0'];
  const made = ['-keyout', key, '-out', certificate()];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...made],
    {
      stdio: 'ignore',
    },
  );
  const { uid, gid } = await stat(cluster!.dataDir);
  for (const name of ['server.key', 'server.crt']) {
    const file = path.join(cluster!.dataDir, name);
    await writeFile(file, await readFile(path.join(folder, name)), { mode: 0o600 });
    await chown(file, uid, gid);
  }
  const client = new pg.Client({ connectionString: cluster!.url });
  await client.connect();
  await client.query('ALTER SYSTEM SET ssl = on');
  await client.query('SELECT pg_reload_conf()');
  await client.end();
}

async function encryptedConnections(): Promise<boolean[]> {
  const client = new pg.Client({ connectionString: cluster!.url });
  await client.connect();
  const { rows } = await client.query<{ ssl: boolean }>(
    `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'rekindle'`,
  );
  await client.end();
  return rows.map(({ ssl }) => ssl);
}

describe('a remote server without TLS', () => {
  it('is TLS_FAILED at once, and no password leaves', async () => {
    const heard: Buffer[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        heard.push(data);
        socket.write('N'); // no TLS here
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const start = performance.now();
    const thrown = await readFrom(`postgres://me:secret@0.0.0.0:${port}/agents`);
    expect(thrown).toMatchObject({ code: 'TLS_FAILED', details: { reason: 'not-offered' } });
    expect(performance.now() - start).toBeLessThan(3_000);
    expect(JSON.stringify(thrown)).not.toContain('secret');
    expect(Buffer.concat(heard)).toHaveLength(8); // the question whether there is TLS, and nothing else
    server.close();
  });

  it('is used when sslmode=disable says so, and a local one always', async (context) => {
    if (!cluster) return context.skip(postgresMissing());
    expect(await readFrom(remote(''))).toMatchObject({ code: 'TLS_FAILED' });
    expect(await readFrom(remote('&sslmode=disable'))).toBe(1);
    expect(await readFrom(cluster.url)).toBe(1);
  }, 30_000);
});

describe('a remote server with TLS', () => {
  it('is reached encrypted when its certificate is trusted, and refused when it is not', async (context) => {
    if (!cluster) return context.skip(postgresMissing());
    await switchTlsOn();
    expect(await readFrom(remote(''))).toMatchObject({
      code: 'TLS_FAILED',
      details: { reason: 'certificate' },
    });
    const storage = openStorage(remote(`&sslrootcert=${encodeURIComponent(certificate())}`));
    await storage.documents.write(['seen'], 2);
    const encrypted = await encryptedConnections();
    expect(encrypted).not.toHaveLength(0);
    expect(encrypted).not.toContain(false);
    await storage.close();
  }, 30_000);
});
