/** How a server begins and ends. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isRekindleError } from '../../src/core/errors.js';
import type { JsonObject } from '../../src/core/json.js';
import { startServer } from '../../src/server/rekindle-server.js';
import { SharedState } from '../../src/state/shared/shared-state.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { CLI_TIMEOUT_MS, resultOf, startCli } from '../cli/cli-fixture.js';
import { eventClient } from './event-client.js';
import { ask, keyPath, serverKit, sleep, slowPut, TOKEN } from './server-kit.js';

describe('close()', () => {
  it('lets a write under way finish, and it is durable', async () => {
    const kit = await serverKit({}, { durable: true });
    const writes = Array.from({ length: 10 }, (_, index) =>
      ask(kit.port, 'PUT', keyPath(`k${index}`), { body: { value: index } }).catch(() => null),
    );
    await sleep(15); // they are there, and not answered yet, or not all of them
    await kit.server.close();
    const answers = await Promise.all(writes);
    const done = answers.flatMap((answer, index) => (answer?.status === 200 ? [`k${index}`] : []));
    expect(done.length).toBeGreaterThan(0);
    const state = new SharedState(new FileStorage(kit.dir), { root: 'root' });
    const kept = (await state.getAll()).keys.map(({ key }) => key);
    await state.close();
    expect(kept).toEqual(expect.arrayContaining(done));
  });

  it('waits for a body that is still coming, and answers it', async () => {
    const kit = await serverKit();
    const answered = slowPut(kit.port, false);
    await sleep(80);
    await kit.server.close();
    expect(await answered).toBe(200);
  });

  it('tells WebSocket clients with 1001, and refuses new connections', async () => {
    const kit = await serverKit();
    const [known, unknown] = [await eventClient(kit.port), await eventClient(kit.port, { token: null })];
    known.say({ type: 'subscribe', to: 'state', session: 'root' });
    await known.until(({ type }) => type === 'subscribed');
    await kit.server.close();
    expect(await Promise.all([known.closed, unknown.closed])).toEqual([1001, 1001]);
    const refused = await ask(kit.port, 'GET', '/health').catch((error: NodeJS.ErrnoException) => error.code);
    expect(refused).toBe('ECONNREFUSED');
  });

  it('may be called twice', async () => {
    const kit = await serverKit();
    await Promise.all([kit.server.close(), kit.server.close()]);
    await kit.server.close();
  });
});

describe('a start', () => {
  it('on a port that is taken fails with LISTEN_FAILED, and the first server goes on', async () => {
    const kit = await serverKit();
    const thrown = await startServer({ backend: kit.backend, token: TOKEN, port: kit.port }).catch(
      (error: unknown) => error,
    );
    if (!isRekindleError(thrown, 'LISTEN_FAILED')) throw thrown;
    expect(thrown.details).toMatchObject({ host: '127.0.0.1', port: kit.port, errno: 'EADDRINUSE' });
    expect((await kit.get('/health')).status).toBe(200);
  });

  it.each(['', 'short', 'with a space in it 0123456789', 'ünïcode-0123456789'])(
    'with the token %j is refused',
    async (token) => {
      const backend = new FileStorage(os.tmpdir());
      const thrown = await startServer({ backend, token, port: 0 }).catch((error: unknown) => error);
      expect(isRekindleError(thrown, 'INVALID_ARGUMENT')).toBe(true);
    },
  );
});

describe('rekindle serve', () => {
  const served = async (dir: string, port = 0) => {
    const child = startCli(['serve', '--dir', dir, '--port', String(port), '--json']);
    onTestFinished(() => void child.kill('SIGKILL'));
    const result = resultOf(child);
    const line = new Promise<JsonObject>((resolve, reject) => {
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => {
        text += String(chunk);
        if (text.startsWith('{"') && text.includes('\n'))
          resolve(JSON.parse(text.slice(0, text.indexOf('\n'))) as JsonObject);
      });
      void result.then(({ stderr }) => reject(new Error(stderr)));
    });
    return { child, result, line };
  };

  it(
    'prints its token once, keeps it from others, refuses a taken port, and ends with 0 on SIGTERM',
    async () => {
      const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-serve-'));
      onTestFinished(() => fs.rm(dir, { recursive: true, force: true }));
      const first = await served(dir);
      const { token, port, url } = (await first.line) as { token: string; port: number; url: string };
      expect(url).toBe(`http://127.0.0.1:${port}`);
      expect((await fs.stat(path.join(dir, 'server', 'token.json'))).mode & 0o777).toBe(0o600);
      const headers = { Authorization: `Bearer ${token}` };
      expect((await ask(port, 'GET', '/sessions', { headers })).status).toBe(200);
      expect((await ask(port, 'GET', '/sessions')).status).toBe(401);

      const second = await served(dir, port);
      second.line.catch(() => {});
      const failed = await second.result;
      expect(failed.code).not.toBe(0);
      expect(failed.stdout + failed.stderr).toContain('LISTEN_FAILED');
      expect(failed.stdout + failed.stderr).not.toContain(token);

      first.child.kill('SIGTERM');
      const ended = await first.result;
      expect(ended.code).toBe(0);
      expect(ended.stdout.split(token)).toHaveLength(2);

      const again = await served(dir);
      const line = await again.line;
      expect('token' in line).toBe(false);
      expect((await ask(line['port'] as number, 'GET', '/sessions', { headers })).status).toBe(200);
      again.child.kill('SIGINT');
      const { code, stdout, stderr } = await again.result;
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain(token);
    },
    CLI_TIMEOUT_MS,
  );
});
