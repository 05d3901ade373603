/** Every turn of a conversation, on files and SQLite; and an erasure that is interrupted at every call. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { erase, resumeErasures } from '../../../src/agent/erasure/erase.js';
import { RekindleError } from '../../../src/core/errors.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { copyStorage } from '../../../src/storage/copy-storage.js';
import { unfinishedErasures } from '../../../src/storage/erasure/erasure-marker.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.js';
import { faultyStorage } from '../../../src/storage/testing/faulty-storage.js';
import { Canaries, inFiles, inStore } from './canaries.js';
import { AGENT, converse, expectGoesOn, openDesk, split, TURNS, withDesk } from './part-conversation.js';

const STORES: Record<string, (folder: string) => StorageBackend> = {
  files: (folder) => new FileStorage(folder),
  SQLite: (folder) => new SqliteStorage(path.join(folder, 'store.db')),
};
const ALL_TURNS = Array.from({ length: TURNS }, (_, index) => index + 1);

describe.each(Object.keys(STORES))('a turn that is erased from %s', { timeout: 120_000 }, (name) => {
  it.each(ALL_TURNS)('is in no byte, and the other turns are whole: turn %i', async (turn) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-part-'));
    const storage = STORES[name]!(folder);
    onTestFinished(async () => {
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    });
    const canaries = new Canaries(turn);
    await converse(storage, canaries);
    const { gone, left } = split(canaries, (owner) => owner.startsWith(`${turn} `));
    await erase(storage, { agent: AGENT, turn });
    expect(await inFiles(folder, gone)).toEqual([]);
    expect(await inFiles(folder, left)).toEqual(left);
    await expectGoesOn(storage, canaries);
  });
});

const PARTS = [{ turn: 2 }, { turn: TURNS }, { source: 'tool:mail' }] as const;

describe('the erasure of a part that is interrupted', { timeout: 900_000 }, () => {
  it.each(PARTS)('resumes, and ends like one that was not interrupted: %o', async (part) => {
    const original = new MemoryStorage();
    const canaries = new Canaries(3);
    await converse(original, canaries);
    const whole = await copyOf(original);
    await erase(whole, { agent: AGENT, ...part });
    const expected = await resultOf(whole, canaries);
    let wasMarked = 0;
    for (let at = 1; ; at += 1) {
      const storage = await copyOf(original);
      const failed = await interrupted(storage, part, at);
      if (failed && (await resumed(storage, part))) wasMarked += 1;
      expect(await resultOf(storage, canaries), `call ${at}`).toEqual(expected);
      await storage.close();
      if (!failed) break;
    }
    expect(wasMarked).toBeGreaterThan(20);
  });
});

async function copyOf(from: StorageBackend): Promise<MemoryStorage> {
  const storage = new MemoryStorage();
  await copyStorage(from, storage);
  return storage;
}

/** Fails from one call on, as for a process that is gone. */
async function interrupted(
  storage: StorageBackend,
  part: (typeof PARTS)[number],
  at: number,
): Promise<boolean> {
  const gone = () => new RekindleError('STORAGE_UNAVAILABLE', 'The process is gone.');
  const plan = ({ number, operation }: { number: number; operation: string }) =>
    number < at || operation === 'lease.release' ? null : { kind: 'fail' as const, error: gone() };
  return erase(faultyStorage(storage, plan), { agent: AGENT, ...part }).then(
    () => false,
    () => true,
  );
}

/** Checks that an unfinished erasure blocks the agent, and finishes it. Returns whether there was a marker. */
async function resumed(storage: StorageBackend, part: (typeof PARTS)[number]): Promise<boolean> {
  if ((await unfinishedErasures(storage)).length === 0) {
    await erase(storage, { agent: AGENT, ...part }).catch((thrown: RekindleError) => {
      if (thrown.code !== 'INVALID_ARGUMENT') throw thrown; // it was finished but for the answer
    });
    return false;
  }
  await expect(openDesk(storage)).rejects.toMatchObject({ code: 'ERASURE_UNFINISHED' });
  const other = erase(storage, { agent: AGENT, turn: 3 });
  await expect(other).rejects.toMatchObject({ code: 'ERASURE_UNFINISHED' });
  const [report] = await resumeErasures(storage);
  expect(report).toMatchObject({ resumed: true, after: { items: 0 } });
  return true;
}

/** What is left: the context, the canaries, and the number of erased records. */
async function resultOf(storage: StorageBackend, canaries: Canaries) {
  const texts = [...canaries.all.values()].flat();
  return withDesk(storage, async (memory, report) => {
    const messages = memory.getWorkingContextMessages();
    expect(checkHistory(messages)).toEqual([]);
    return { left: await inStore(storage, texts), messages, erased: report.erased };
  });
}
