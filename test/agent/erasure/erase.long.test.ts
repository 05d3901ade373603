/** Erasing in databases, and an erasure that is interrupted at every call. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openWorkingContext } from '../../../src/agent/context/open-working-context.js';
import { erase, resumeErasures } from '../../../src/agent/erasure/erase.js';
import { RekindleError } from '../../../src/core/errors.js';
import { unfinishedErasures } from '../../../src/storage/erasure/erasure-marker.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.js';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.js';
import { faultyStorage } from '../../../src/storage/testing/faulty-storage.js';
import { newSchemaName, testPostgres } from '../../support/postgres-schema.js';
import { Canaries, expectErased, inFiles, inStore, plant, plantAsides } from './canaries.js';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-erase-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('an agent that is erased', () => {
  it('is in no file of SQLite: no row, no free page, no log', async () => {
    const folder = await newFolder();
    const storage = new SqliteStorage(path.join(folder, 'store.db'));
    onTestFinished(() => storage.close());
    const canaries = new Canaries(2);
    await plant(storage, canaries);
    await erase(storage, { agent: 'desk' });
    expect(await inFiles(folder, canaries.all.get('desk')!)).toEqual([]);
    await expectErased((texts) => inStore(storage, texts), canaries);
  });

  it.skipIf(!testPostgres())('is in no row of PostgreSQL', async () => {
    const schema = newSchemaName();
    const storage = new PostgresStorage(testPostgres()!, { schema, partitions: 2 });
    onTestFinished(() => storage.close());
    const canaries = new Canaries(3);
    await plant(storage, canaries);
    await erase(storage, { agent: 'desk' });
    await expectErased((texts) => inStore(storage, texts), canaries);
  });
});

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

/** What an interruption left is refused, and gone on with. Whether there was a marker. */
async function goneOnWith(storage: StorageBackend): Promise<boolean> {
  if ((await unfinishedErasures(storage)).length === 0) {
    await erase(storage, { agent: 'desk' });
    return false;
  }
  const open = openWorkingContext({ agentId: 'desk', storage });
  await expect(open).rejects.toMatchObject({ code: 'ERASURE_UNFINISHED' });
  const [report] = await resumeErasures(storage);
  expect(report).toMatchObject({ resumed: true, after: { items: 0 } });
  expect(report!.before.items).toBeGreaterThan(10);
  return true;
}

describe('an erasure that is interrupted', () => {
  it('is gone on with, wherever that was; until then the agent is refused', async () => {
    let wasMarked = 0;
    for (let at = 1; ; at += 1) {
      const storage = new MemoryStorage();
      const canaries = new Canaries(at);
      await plant(storage, canaries);
      const failed = await interrupted(storage, at);
      if (failed && (await goneOnWith(storage))) wasMarked += 1;
      await expectErased((texts) => inStore(storage, texts), canaries);
      await storage.close();
      if (!failed) break;
    }
    expect(wasMarked).toBeGreaterThan(30);
  });

  it('leaves nothing in files, either', { timeout: 300_000 }, async () => {
    for (let at = 40; ; at += 5) {
      const folder = await newFolder();
      const storage = new FileStorage(folder);
      const canaries = new Canaries(at);
      await plant(storage, canaries);
      await plantAsides(folder, canaries);
      const failed = await interrupted(storage, at);
      if (failed) await goneOnWith(storage);
      await expectErased((texts) => inFiles(folder, texts), canaries);
      await storage.close();
      if (!failed) break;
    }
  });
});
