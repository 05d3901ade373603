/** After an erasure nothing of an agent is in the bytes of its store, and all of another agent is; also when it was interrupted. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openWorkingContext } from '../../../src/agent/context/open-working-context.js';
import { erase, resumeErasures } from '../../../src/agent/erasure/erase.js';
import { RekindleError } from '../../../src/core/errors.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { unfinishedErasures } from '../../../src/storage/erasure/erasure-marker.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.js';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.js';
import { faultyStorage } from '../../../src/storage/testing/faulty-storage.js';
import { newSchemaName, testPostgres } from '../../support/postgres-schema.js';
import { Canaries, inFiles, inStore, plant, plantAsides } from './canaries.js';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-erase-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function closing<T extends StorageBackend>(storage: T): T {
  ends.push(() => storage.close());
  return storage;
}

async function expectErased(
  look: (texts: readonly string[]) => Promise<string[]>,
  canaries: Canaries,
): Promise<void> {
  const [own, others] = [canaries.all.get('desk')!, canaries.all.get('till')!];
  expect(await look(own)).toEqual([]);
  expect(await look(others)).toEqual(others);
}

describe('an agent that is erased', () => {
  it('is in no file, with all that was set aside; the other agent is whole', async () => {
    const folder = await newFolder();
    const storage = closing(new FileStorage(folder));
    const canaries = new Canaries(1);
    await plant(storage, canaries);
    await plantAsides(folder, canaries);
    expect(await inFiles(folder, canaries.all.get('desk')!)).toEqual(canaries.all.get('desk'));
    const dry = await erase(storage, { agent: 'desk' }, { dryRun: true });
    expect(await inFiles(folder, canaries.all.get('desk')!)).toEqual(canaries.all.get('desk'));
    const report = await erase(storage, { agent: 'desk' });
    expect(report.before).toEqual(dry.before);
    expect(report.after).toEqual({ items: 0, bytes: 0 });
    expect(report.places.filter(({ kind }) => kind === 'aside').length).toBeGreaterThanOrEqual(4);
    await expectErased((texts) => inFiles(folder, texts), canaries);
    await expect(erase(storage, { agent: 'desk' })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('is in no file of SQLite: no row, no free page, no log', async () => {
    const folder = await newFolder();
    const storage = closing(new SqliteStorage(path.join(folder, 'store.db')));
    const canaries = new Canaries(2);
    await plant(storage, canaries);
    await erase(storage, { agent: 'desk' });
    expect(await inFiles(folder, canaries.all.get('desk')!)).toEqual([]);
    await expectErased((texts) => inStore(storage, texts), canaries);
  });

  it.skipIf(!testPostgres())('is in no row of PostgreSQL', async () => {
    const schema = newSchemaName();
    const storage = closing(new PostgresStorage(testPostgres()!, { schema, partitions: 2 }));
    const canaries = new Canaries(3);
    await plant(storage, canaries);
    await erase(storage, { agent: 'desk' });
    await expectErased((texts) => inStore(storage, texts), canaries);
  });

  it('is nowhere in memory', async () => {
    const storage = closing(new MemoryStorage());
    const canaries = new Canaries(4);
    await plant(storage, canaries);
    await erase(storage, { agent: 'desk' });
    await expectErased((texts) => inStore(storage, texts), canaries);
  });

  it('leaves its name free; the numbers of its owners go on', async () => {
    const storage = closing(new FileStorage(await newFolder()));
    await plant(storage, new Canaries(5));
    const before = await storage.leases.acquire(['agents', 'desk']);
    await before.release();
    await erase(storage, { agent: 'desk' });
    const context = await openWorkingContext({ agentId: 'desk', storage, system: 'new' });
    expect(context.messagesFor('ai-sdk')).toHaveLength(1);
    await context.close();
    const after = await storage.leases.acquire(['agents', 'desk']);
    expect(after.fence).toBeGreaterThan(before.fence + 1);
    await after.release();
  });

  it('is not erased while it is open', async () => {
    const storage = closing(new FileStorage(await newFolder()));
    await plant(storage, new Canaries(6));
    const context = await openWorkingContext({ agentId: 'desk', storage });
    await expect(erase(storage, { agent: 'desk' })).rejects.toMatchObject({ code: 'LEASE_HELD' });
    expect(await unfinishedErasures(storage)).toEqual([]);
    await context.close();
  });
});

describe('an erasure that is interrupted', () => {
  /** Fails from one call on, as for a process that is gone. */
  async function interrupted(storage: StorageBackend, at: number): Promise<boolean> {
    const gone = () => new RekindleError('STORAGE_UNAVAILABLE', 'The process is gone.');
    const plan = ({ number, operation }: { number: number; operation: string }) =>
      number < at || operation === 'lease.release' ? null : { kind: 'fail' as const, error: gone() };
    return erase(faultyStorage(storage, plan), { agent: 'desk' }).then(
      () => false,
      () => true,
    );
  }

  it('is gone on with, wherever that was; until then the agent is refused', { timeout: 60_000 }, async () => {
    let wasMarked = 0;
    for (let at = 1; ; at += 7) {
      const storage = new MemoryStorage();
      const canaries = new Canaries(at);
      await plant(storage, canaries);
      const failed = await interrupted(storage, at);
      if (failed && (await unfinishedErasures(storage)).length > 0) {
        wasMarked += 1;
        const open = openWorkingContext({ agentId: 'desk', storage });
        await expect(open).rejects.toMatchObject({ code: 'ERASURE_UNFINISHED' });
        const [report] = await resumeErasures(storage);
        expect(report).toMatchObject({ resumed: true, after: { items: 0 } });
        expect(report!.before.items).toBeGreaterThan(10);
      } else if (failed) await erase(storage, { agent: 'desk' });
      await expectErased((texts) => inStore(storage, texts), canaries);
      await storage.close();
      if (!failed) break;
    }
    expect(wasMarked).toBeGreaterThan(3);
  });
});

describe('the harness', () => {
  it('catches an erasure that skips one kind of place', async () => {
    const storage = closing(new MemoryStorage());
    const canaries = new Canaries(8);
    await plant(storage, canaries);
    const skipping = new Proxy(storage, {
      get: (target, key) => {
        if (key === 'removeBelow')
          return (prefix: readonly string[], lease: never) =>
            prefix[0] === 'checkpoints' ? Promise.resolve() : target.removeBelow(prefix, lease);
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await expect(erase(skipping, { agent: 'desk' })).rejects.toMatchObject({ code: 'ERASURE_UNFINISHED' });
    expect(await inStore(storage, canaries.all.get('desk')!)).not.toEqual([]);
  });
});

describe('a session that is erased', () => {
  it('goes with its children, its state and their rows; other roots stay', async () => {
    const folder = await newFolder();
    const storage = closing(new FileStorage(folder));
    const canaries = new Canaries(9);
    const shared = new SharedSessions(storage);
    for (const root of ['desk', 'till']) {
      await shared.tree.create({ id: root, agent: canaries.make(root) });
      await shared.tree.create({ id: `${root}-child`, parent: root, agent: canaries.make(root) });
      await (await shared.stateOf(`${root}-child`)).set('key', canaries.make(root));
    }
    await shared.close();
    await expect(erase(storage, { session: 'desk-child' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { root: 'desk' },
    });
    await erase(storage, { session: 'desk' });
    await expectErased((texts) => inFiles(folder, texts), canaries);
    const again = new SharedSessions(storage);
    expect((await again.tree.list()).map(({ id }) => id)).toEqual(['till', 'till-child']);
    await again.close();
    await expect(erase(storage, { session: 'desk' })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });
});
