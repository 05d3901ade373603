/** A server over a disk that takes no writes. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadServerToken } from '../../src/server/access/token.js';
import { startServer } from '../../src/server/rekindle-server.js';
import { SharedSessions } from '../../src/state/shared/shared-sessions.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { NodeFileSystem } from '../../src/storage/file/node-file-system.js';
import { type FaultyCall, FaultyFileSystem } from '../../src/storage/simulated/faulty-file-system.js';

const WRITES = new Set<FaultyCall>([
  ...(['makeFolder', 'rename', 'link', 'unlink', 'touch', 'setMode', 'syncFolder'] as const),
  ...(['file.write', 'file.truncate', 'file.datasync'] as const),
]);

async function readOnlyStore(): Promise<FileStorage> {
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-read-only-'));
  onTestFinished(() => fs.rm(root, { recursive: true, force: true }));
  const before = new FileStorage(root);
  const shared = new SharedSessions(before);
  await shared.tree.create({ id: 'root' });
  await (await shared.stateOf('root')).set('k', 1);
  await shared.close();
  await before.close();
  const fileSystem = new FaultyFileSystem(new NodeFileSystem(), {
    at: 1,
    kind: 'EROFS',
    sticky: true,
    only: (call) => WRITES.has(call),
  });
  return new FileStorage(root, { fileSystem });
}

it('starts for reading, with a token of its own, and says of a change that it failed', async () => {
  const backend = await readOnlyStore();
  const { token, isNew, isStored } = await loadServerToken(backend);
  expect([isNew, isStored]).toEqual([true, false]);
  const server = await startServer({ backend, token, port: 0 });
  onTestFinished(async () => {
    await server.close();
    await backend.close();
  });
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const key = `${server.url}/sessions/root/state/keys/k`;
  for (const target of ['/sessions', '/sessions/root/state', '/agents', '/checkpoints/sessions'])
    expect([target, (await fetch(`${server.url}${target}`, { headers })).status]).toEqual([target, 200]);
  expect(await (await fetch(key, { headers })).json()).toMatchObject({ value: 1, version: 1 });
  const changed = await fetch(key, { method: 'PUT', headers, body: '{"value":2}' });
  expect(await changed.json()).toMatchObject({ code: 'STORAGE_FAILED', details: { errno: 'EROFS' } });
  expect(await (await fetch(key, { headers })).json()).toMatchObject({ value: 1, version: 1 });
});
