/**
 * P2, P3, P8: over random conversations and crash points, the restored context equals the one before the crash, from the cache, from
 * an earlier cache and its tail, and without a cache; it is legal; and a restore of a clean folder writes nothing.
 */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/core/clock.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { systemIdentity } from '../../src/storage/process-identity.js';
import { folderState, survivor } from '../memory/memory-kit.js';
import { conversation, type Step } from './conversation.js';
import { runParameters } from './seed.js';
import { Session } from './session.js';

const CRASH: Step & { do: 'crash' } = { do: 'crash', cache: 'last', pick: 3, prompt: null };

function inMemory(): Session {
  const clock = new ManualClock();
  const storage = new MemoryStorage({ clock });
  return new Session(() => {
    clock.advance(60_000); // whoever held the lease is past its time
    return storage;
  });
}

/** A process that wakes later was suspended: its successor takes the lease from a process that runs. Others were killed. */
function storageOf(root: string, wakes: boolean): FileStorage {
  const identity = wakes ? systemIdentity : survivor;
  const storage = new FileStorage(root, { durability: 'relaxed', identity, segmentBytesMax: 4_000 });
  const acquire = storage.leases.acquire.bind(storage.leases);
  if (wakes) storage.leases.acquire = (name, options) => acquire(name, { ...options, force: true });
  return storage;
}

async function inFolder<T>(
  steps: readonly Step[],
  run: (session: Session, root: string) => Promise<T>,
): Promise<T> {
  const wakes = steps.some((step) => step.do === 'zombie');
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-property-'));
  const stores: FileStorage[] = [];
  try {
    const session = new Session(() => {
      const storage = storageOf(root, wakes);
      stores.push(storage);
      return storage;
    });
    return await run(session, root);
  } finally {
    for (const storage of stores) await storage.close().catch(() => {});
    await fs.rm(root, { recursive: true, force: true });
  }
}

describe('the restored context', () => {
  it('equals the live one in memory', async () => {
    const sources = new Set<string>();
    await fc.assert(
      fc.asyncProperty(conversation, async (steps) => {
        const session = inMemory();
        await session.start();
        await session.play([...steps, CRASH, CRASH]);
        for (const source of session.sources) sources.add(source);
      }),
      runParameters('restore-equals-live, memory', 150),
    );
    expect([...sources].sort()).toStrictEqual(['cache', 'cache+tail', 'rebuilt']);
  }, 600_000);

  it('equals the live one in files, and restoring a clean folder writes nothing but the lease', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, (steps) =>
        inFolder(steps, async (session, root) => {
          await session.start();
          await session.play([...steps, CRASH, { do: 'save' }]);
          await session.end();
          const before = await folderState(root);
          await session.play([CRASH]);
          await session.end();
          expect(withoutTimes(await folderState(root))).toStrictEqual(withoutTimes(before));
        }),
      ),
      runParameters('restore-equals-live, files', 20),
    );
  }, 600_000);
});

/** The session puts the cache back as it was, which touches its time. */
function withoutTimes(state: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(state).map(([name, value]) => [name, value.split(' ')[0]!]));
}
