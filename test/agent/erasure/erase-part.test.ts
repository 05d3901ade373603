/** A part of an agent that is erased is in no byte of its store; the rest is whole, legal and goes on. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { erase } from '../../../src/agent/erasure/erase.js';
import { verifyAgent } from '../../../src/memory/maintenance/verify-agent.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.js';
import { Canaries, inFiles } from './canaries.js';
import { AGENT, converse, converseOnce, TURNS, withDesk } from './part-conversation.js';

const STORES: Record<string, (folder: string) => StorageBackend> = {
  files: (folder) => new FileStorage(folder),
  SQLite: (folder) => new SqliteStorage(path.join(folder, 'store.db')),
};

async function open(name: string): Promise<{ readonly folder: string; readonly storage: StorageBackend }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-part-'));
  const storage = STORES[name]!(folder);
  onTestFinished(async () => {
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { folder, storage };
}

/** Canaries of these owners, and all others. */
function split(canaries: Canaries, isGone: (owner: string) => boolean) {
  const owners = [...canaries.all];
  const of = (goes: boolean) =>
    owners.filter(([owner]) => isGone(owner) === goes).flatMap(([, texts]) => texts);
  return { gone: of(true), left: of(false) };
}

/** The agent restores, legal and undamaged, with and without its cache, and takes another turn. */
async function expectGoesOn(storage: StorageBackend, canaries: Canaries): Promise<void> {
  const before = await withDesk(storage, async (memory, report) => {
    expect(report).toMatchObject({ source: 'rebuilt', damage: [], repairs: [] });
    expect(report.erased).toBeGreaterThan(0);
    expect(checkHistory(memory.getWorkingContextMessages())).toEqual([]);
    return memory.getWorkingContextMessages();
  });
  expect(await verifyAgent(storage, AGENT)).toMatchObject({ problems: [] });
  await withDesk(storage, async (memory) => {
    expect(memory.getWorkingContextMessages()).toEqual(before);
    await converseOnce(storage, memory, TURNS + 1, canaries);
    expect(checkHistory(memory.getWorkingContextMessages())).toEqual([]);
    await memory.endTurn();
  });
}

describe.each(Object.keys(STORES))('a turn that is erased from %s', (name) => {
  it.each([1, 2, 5, 6, TURNS])('is nowhere, and the other turns are whole: turn %i', async (turn) => {
    const { folder, storage } = await open(name);
    const canaries = new Canaries(turn);
    await converse(storage, canaries);
    const { gone, left } = split(canaries, (owner) => owner.startsWith(`${turn} `));
    expect(await inFiles(folder, gone)).toEqual(gone);
    const dry = await erase(storage, { agent: AGENT, turn }, { dryRun: true });
    expect(dry.places.length).toBeGreaterThan(3);
    const report = await erase(storage, { agent: AGENT, turn });
    expect(report).toMatchObject({ before: { items: dry.before.items }, after: { items: 0, bytes: 0 } });
    expect(await inFiles(folder, gone)).toEqual([]);
    expect(await inFiles(folder, left)).toEqual(left);
    await expectGoesOn(storage, canaries);
    expect(await inFiles(folder, gone)).toEqual([]);
  });
});
