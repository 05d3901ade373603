/** Two processes append to one session, and one of them is killed: each acknowledged entry is loaded once, in the order of its process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { RekindleSessionStore } from '../../../src/adapters/claude-agent/index.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { AGENT_1, entry, MAIN } from './store-kit.js';

const CHILD = fileURLToPath(new URL('./transcript-child.ts', import.meta.url));
const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
const BATCHES = 15;
const KILLED_AFTER = 5;

/** The acknowledged uuids. */
async function appending(folder: string, name: string, kill: boolean): Promise<string[]> {
  const count = kill ? 100_000 : BATCHES;
  const args = ['--import', 'tsx', CHILD, folder, name, String(count)];
  const child = spawn(process.execPath, args, { cwd: REPOSITORY, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let read = '';
  child.stdout.on('data', (chunk: Buffer) => {
    read += String(chunk);
    if (kill && read.split('\n').length > KILLED_AFTER) child.kill('SIGKILL');
  });
  await closed;
  return read
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => line.split(' '));
}

it('each acknowledged entry of two processes is loaded once after a kill, and a retry adds only what is missing', {
  timeout: 60_000,
}, async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-claude-agent-'));
  const [whole, killed] = await Promise.all([
    appending(folder, 'whole', false),
    appending(folder, 'killed', true),
  ]);
  const storage = openStorage(`file:${folder}`);
  const store = new RekindleSessionStore({ storage });
  try {
    expect(whole).toHaveLength(BATCHES * 3);
    expect(killed.length).toBeGreaterThanOrEqual(KILLED_AFTER * 3);
    for (const key of [MAIN, AGENT_1]) {
      const loaded = ((await store.load(key)) ?? []).map(({ uuid }) => uuid ?? '');
      expect(loaded.filter((uuid) => uuid.startsWith('whole'))).toEqual(whole);
      const ofKilled = loaded.filter((uuid) => uuid.startsWith('killed'));
      expect(ofKilled.slice(0, killed.length)).toEqual(killed);
      expect(ofKilled.length % 3).toBe(0); // a batch is whole or not there
      const again = [...ofKilled.slice(-6), 'new'];
      for (let n = 0; n < 2; n += 1)
        await store.append(
          key,
          again.map((uuid) => entry({ uuid })),
        );
      expect((await store.load(key))?.map(({ uuid }) => uuid)).toEqual([...loaded, 'new']);
    }
  } finally {
    await store.close();
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  }
});
