/** A part of an agent that is erased is in no byte of its store; the rest is whole, legal and goes on. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { checkpointAgent } from '../../../src/agent/checkpoints/checkpoint-agent.js';
import { erase } from '../../../src/agent/erasure/erase.js';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { unfinishedErasures } from '../../../src/storage/erasure/erasure-marker.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { Canaries, inFiles } from './canaries.js';
import { AGENT, converse, expectGoesOn, openDesk, recordOf, split } from './part-conversation.js';

let original: string;
const planted = new Canaries(7);

/** One conversation; each test has a copy. */
beforeAll(async () => {
  original = await mkdtemp(path.join(os.tmpdir(), 'rekindle-part-'));
  const storage = new FileStorage(original);
  await converse(storage, planted);
  await storage.close();
}, 60_000);
afterAll(() => rm(original, { recursive: true, force: true }));

async function copy() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-part-'));
  await cp(original, folder, { recursive: true });
  const storage = new FileStorage(folder);
  onTestFinished(async () => {
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  });
  const canaries = new Canaries(8);
  for (const [owner, texts] of planted.all) canaries.all.set(owner, [...texts]);
  return { folder, storage, canaries };
}

describe('a part of an agent that is erased', { timeout: 60_000 }, () => {
  it('a turn: it is in no file, the other turns are whole, and the agent goes on', async () => {
    const { folder, storage, canaries } = await copy();
    const { gone, left } = split(canaries, (owner) => owner.startsWith('2 '));
    expect(await inFiles(folder, gone)).toEqual(gone);
    const dry = await erase(storage, { agent: AGENT, turn: 2 }, { dryRun: true });
    expect(await inFiles(folder, gone)).toEqual(gone);
    const report = await erase(storage, { agent: AGENT, turn: 2 });
    expect(report).toMatchObject({ before: { items: dry.before.items }, after: { items: 0, bytes: 0 } });
    expect(await inFiles(folder, gone)).toEqual([]);
    expect(await inFiles(folder, left)).toEqual(left);
    await expectGoesOn(storage, canaries);
    expect(await inFiles(folder, gone)).toEqual([]);
    await expect(erase(storage, { agent: AGENT, turn: 2 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });

  it("a user's message: the answer to it stays", async () => {
    const { folder, storage, canaries } = await copy();
    const { gone, left } = split(canaries, (owner) => owner === '6 user');
    const message = await recordOf(storage, 6, (row) => row['trace_type'] === 'user');
    await erase(storage, { agent: AGENT, message });
    expect(await inFiles(folder, gone)).toEqual([]);
    expect(await inFiles(folder, left)).toEqual(left);
    await expectGoesOn(storage, canaries);
  });

  it('a result: its call goes, too, with the value that was stored apart, and the fact that followed it', async () => {
    const { folder, storage, canaries } = await copy();
    const { gone, left } = split(canaries, (owner) => /^7 (?:search|fact)/.test(owner));
    const message = await recordOf(storage, 7, (row) => row['trace_type'] === 'tool_result');
    await erase(storage, { agent: AGENT, message });
    expect(await inFiles(folder, gone)).toEqual([]);
    expect(await inFiles(folder, left)).toEqual(left);
    await expectGoesOn(storage, canaries);
  });

  it('what came from a tool, with what the model wrote after it in the turn', async () => {
    const { folder, storage, canaries } = await copy();
    const { gone, left } = split(canaries, (owner) => /^[246] (?:mail|final|fact)/.test(owner));
    await erase(storage, { agent: AGENT, source: 'tool:mail' });
    expect(await inFiles(folder, gone)).toEqual([]);
    expect(await inFiles(folder, left)).toEqual(left);
    await expectGoesOn(storage, canaries);
  });
});

describe('the erasure of a part', { timeout: 60_000 }, () => {
  it('is refused while a checkpoint may hold it, and goes once that is deleted', async () => {
    const { folder, storage, canaries } = await copy();
    const checkpoints = new CheckpointService({
      backend: storage,
      config: { compression: { enabled: false } },
    });
    const { checkpointId } = await checkpointAgent(checkpoints, storage, AGENT);
    const target = { agent: AGENT, turn: 7 };
    await expect(erase(storage, target)).rejects.toMatchObject({
      code: 'ERASURE_REFUSED',
      details: { checkpoints: [checkpointId] },
    });
    expect(await unfinishedErasures(storage)).toEqual([]);
    await checkpoints.delete(checkpointId);
    await checkpoints.close();
    await erase(storage, target);
    const { gone } = split(canaries, (owner) => owner.startsWith('7 '));
    expect(await inFiles(folder, gone)).toEqual([]);
  });

  it('is refused while the agent is open, and for what does not exist', async () => {
    const { storage } = await copy();
    const opened = await openDesk(storage);
    await expect(erase(storage, { agent: AGENT, turn: 2 })).rejects.toMatchObject({ code: 'LEASE_HELD' });
    await opened.close();
    const bad = [{ turn: 99 }, { turn: 0 }, { message: 1 }, { source: 'user' }, { turn: 1, message: 4 }];
    for (const part of bad)
      await expect(erase(storage, { agent: AGENT, ...part } as never)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
    await expect(erase(storage, { agent: 'nobody', turn: 1 })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
    expect(await unfinishedErasures(storage)).toEqual([]);
  });
});
