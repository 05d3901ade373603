/**
 * A PostgreSQL cluster of its own for tests, on 127.0.0.1, in a temporary folder, with a password, with `fsync` on. Never as root: a
 * test process of root starts it as the user `postgres`, or `nobody`. It ends only processes that it started.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { postgresBinaries } from './postgres-binaries.js';

export interface PostgresCluster {
  /** `postgres://user:password@127.0.0.1:port/postgres` */
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  /** `kill -9` of the postmaster. Resolves when its children are gone too. */
  kill(): Promise<void>;
  /** Starts it again on the same data and port. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Ends it, and removes the data. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Server settings, as in `postgresql.conf`. */
  readonly settings?: Record<string, string>;
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  fsync: 'on',
};
const START_MS = 60_000;
const END_MS = 20_000;
const PORT_ATTEMPTS = 3;

/** The message with which tests skip. */
export function postgresMissing(): string {
  return (
    'Skipped: PostgreSQL is not installed here. Install it, name a server in REKINDLE_TEST_POSTGRES ' +
    '(postgres://user:password@host:port/database), or run `npm run test:postgres`, which brings one along.'
  );
}

/** Null when there are no binaries. Takes about two seconds. */
export async function startPostgres({
  settings = {},
}: PostgresOptions = {}): Promise<PostgresCluster | null> {
  const binaries = postgresBinaries();
  if (binaries === null) return null;
  const account = serverAccount();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-postgres-'));
  const password = randomBytes(12).toString('hex');
  try {
    if (account) await chown(folder, account.uid, account.gid);
    await makeCluster(binaries, folder, password, account);
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      const cluster = new Cluster({ binaries, folder, password, port, account, settings });
      try {
        await cluster.start();
        return cluster;
      } catch (thrown) {
        // Somebody else may have taken the port in between.
        if (attempt === PORT_ATTEMPTS || !String(thrown).includes('in use')) throw thrown;
      }
    }
  } catch (thrown) {
    await rm(folder, { recursive: true, force: true });
    throw thrown;
  }
}

/** Null: the account of the test process, which is not root. */
function serverAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  for (const user of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, user], { stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // no such user
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user `postgres` or `nobody`.');
}

async function makeCluster(
  binaries: string,
  folder: string,
  password: string,
  account: Account | null,
): Promise<void> {
  const passwordFile = path.join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (account) await chown(passwordFile, account.uid, account.gid);
  const options = [
    ['--pgdata', path.join(folder, 'data')],
    ['--username', 'postgres', '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
    ['--locale', 'C', '--encoding', 'UTF8', '--no-sync', '--no-instructions'],
  ].flat();
  const child = spawn(path.join(binaries, 'initdb'), options, spawnOptions(folder, account));
  const output = collect(child);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`initdb failed.\n${output()}`);
  await rm(passwordFile);
}

function spawnOptions(folder: string, account: Account | null) {
  return {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' },
    ...(account ?? {}),
  };
}

/** The end of what a process has said. */
function collect(child: ChildProcess): () => string {
  let text = '';
  const more = (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(-8_000);
  };
  child.stdout?.on('data', more);
  child.stderr?.on('data', more);
  return () => text;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

interface ClusterOptions {
  readonly binaries: string;
  readonly folder: string;
  readonly password: string;
  readonly port: number;
  readonly account: Account | null;
  readonly settings: Record<string, string>;
}

interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Resolves when the postmaster and all its children are gone: they hold its output open. */
  readonly gone: Promise<void>;
}

class Cluster implements PostgresCluster {
  readonly #options: ClusterOptions;
  #running: Running | null = null;

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  get port(): number {
    return this.#options.port;
  }

  get dataDir(): string {
    return path.join(this.#options.folder, 'data');
  }

  get url(): string {
    return `postgres://postgres:${this.#options.password}@127.0.0.1:${this.port}/postgres`;
  }

  async start(): Promise<void> {
    if (this.#running) return;
    const { binaries, folder, account, settings } = this.#options;
    const all = Object.entries({ ...SETTINGS, port: String(this.port), ...settings });
    const args = ['-D', this.dataDir, ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const child = spawn(path.join(binaries, 'postgres'), args, {
      ...spawnOptions(folder, account),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const output = collect(child);
    const guard = guardAgainstOrphans(child, folder, account);
    // An `error` instead means that there is no process; `accepting` tells.
    const gone = once(child, 'close').then(guard, guard);
    this.#running = { child, output, gone };
    try {
      await accepting(this.url, this.#running);
    } catch (thrown) {
      await this.#end('SIGQUIT');
      throw thrown;
    }
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    // The data is removed, so nothing need be written to it first.
    await this.#end('SIGQUIT');
    await rm(this.#options.folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const running = this.#running;
    this.#running = null;
    if (!running) return;
    running.child.kill(signal);
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`PostgreSQL did not end.\n${running.output()}`)), END_MS).unref();
    });
    await Promise.race([running.gone, late]);
  }
}

async function accepting(url: string, { child, output, gone }: Running): Promise<void> {
  const end = Date.now() + START_MS;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      await gone;
      throw new Error(`PostgreSQL did not start.\n${output()}`);
    }
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => {}); // it may end while we ask
    try {
      await client.connect();
      await client.query('SELECT 1');
      return;
    } catch (thrown) {
      if (Date.now() > end) throw new Error(`PostgreSQL does not answer.\n${output()}`, { cause: thrown });
    } finally {
      await client.end().catch(() => {});
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/**
 * Ends the postmaster and removes its folder when the test process ends in any way, `kill -9` included: a shell that waits for the end
 * of its input. The function that is returned lets it off.
 */
function guardAgainstOrphans(postmaster: ChildProcess, folder: string, account: Account | null): () => void {
  const { pid } = postmaster;
  if (pid === undefined) return () => {};
  const script = 'read -r _ || { kill -QUIT "$1"; sleep 1; rm -rf "$2"; }';
  const guard = spawn('/bin/sh', ['-c', script, 'guard', String(pid), folder], {
    ...spawnOptions('/', account),
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  (guard.stdin as unknown as { unref?(): void }).unref?.();
  guard.stdin.on('error', () => {});
  return () => {
    guard.stdin.end('done\n');
  };
}
