/** Where the checkpoints of agents may be, and what is no agent of this release. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkpointAgent } from '../../../src/agent/checkpoints/checkpoint-agent.js';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import type { JsonObject } from '../../../src/core/json.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { AGENT_ID, filesBelow, rejection } from '../agent-fixture.js';
import { answers, BranchPlace, bytesOf } from './branch-kit.js';

/** `ada` after one turn, stopped. */
async function spoken() {
  const place = await BranchPlace.make();
  const agent = await place.started(answers(1), { systemPrompt: 'Be exact.' });
  await agent.send('The word is xylophone.');
  await agent.stop();
  return { place, context: bytesOf(agent) };
}

async function elsewhere(): Promise<FileStorage> {
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-elsewhere-'));
  const storage = new FileStorage(root, { durability: 'relaxed' });
  onTestFinished(async () => {
    await storage.close();
    await fs.rm(root, { recursive: true, force: true });
  });
  return storage;
}

describe('a service over another storage than that of the agent', () => {
  it('has the checkpoints, and the agent begins where agents are', async () => {
    const { place, context } = await spoken();
    const storage = await elsewhere();
    const service = new CheckpointService({ backend: storage, folder: ['saved'] });
    const { checkpointId } = await checkpointAgent(service, place.storage, AGENT_ID);
    const from = { checkpointId, service };
    const branch = place.restored('branch', [], {}, { fromCheckpoint: from });
    await branch.start();
    expect(bytesOf(branch)).toBe(context);
    expect(await fs.readdir(place.dir)).toEqual(['agents']);
    expect(await fs.readdir(storage.root)).toEqual(['saved']);
    await service.close();
  });

  it('brings an agent into a storage in which it never was, under its own id', async () => {
    const { place, context } = await spoken();
    const { checkpointId } = await place.save();
    const storage = await elsewhere();
    const { service } = place;
    const moved = place.restored(
      AGENT_ID,
      answers(1),
      { storage },
      { fromCheckpoint: { checkpointId, service } },
    );
    await moved.start();
    expect(bytesOf(moved)).toBe(context);
    expect((await moved.send('Go on.')).turnId).toBe('turn_0002');
  });

  it('stays open: it is its owner who closes it', async () => {
    const { place } = await spoken();
    const { checkpointId } = await place.save();
    const { service } = place;
    await place.restored('branch', [], {}, { fromCheckpoint: { checkpointId, service } }).start();
    expect((await service.list()).total).toBe(1);
    expect(await place.save()).toMatchObject({ status: 'SKIPPED_UNCHANGED' });
  });
});

describe('an encrypted checkpoint of an agent', () => {
  it('shows nothing of it, and gives the whole agent to who has the key', async () => {
    const { place, context } = await spoken();
    const storage = await elsewhere();
    const keyFile = path.join(storage.root, 'keys', 'master.json');
    const config = { encryption: { enabled: true, keyFile } };
    const service = new CheckpointService({ backend: place.storage, config });
    const { checkpointId, metadata } = await checkpointAgent(service, place.storage, AGENT_ID);
    expect(metadata).toMatchObject({ encrypted: true, kind: 'agent', agentId: AGENT_ID });
    const stored = await filesBelow(path.join(place.dir, 'checkpoints'));
    for (const [name, bytes] of stored) expect(bytes.includes('xylophone'), name).toBe(false);
    const branch = place.restored('branch', [], {}, { fromCheckpoint: { checkpointId, service } });
    await branch.start();
    expect(bytesOf(branch)).toBe(context);
    await service.close();
  });

  it('is KEY_UNAVAILABLE to who has no key, and leaves no trace of the agent', async () => {
    const { place } = await spoken();
    const storage = await elsewhere();
    const of = (name: string) => {
      const config = { encryption: { enabled: true, keyFile: path.join(storage.root, name) } };
      return new CheckpointService({ backend: place.storage, config });
    };
    const [right, wrong] = [of('right.json'), of('wrong.json')];
    const { checkpointId } = await checkpointAgent(right, place.storage, AGENT_ID);
    const fromCheckpoint = { checkpointId, service: wrong };
    expect(await rejection(place.restored('branch', [], {}, { fromCheckpoint }).start())).toBe(
      'KEY_UNAVAILABLE',
    );
    expect(await fs.readdir(path.join(place.dir, 'agents'))).toEqual([AGENT_ID]);
    await right.close();
    await wrong.close();
  });
});

describe('an agent in a checkpoint', () => {
  it.each([
    ['of a newer version', { version: 2 }, 'UNSUPPORTED_VERSION'],
    ['of a newer version and another shape', { version: 7, messages: null }, 'UNSUPPORTED_VERSION'],
    ['of a version that is none', { version: '1' }, 'INVALID_ARGUMENT'],
    ['that lacks its turn number', { last_turn: null }, 'INVALID_ARGUMENT'],
    ['of another format', { format: 'other' }, 'INVALID_ARGUMENT'],
  ])('%s is refused, and leaves no trace', async (_, change, code) => {
    const { place } = await spoken();
    const { checkpointId } = await place.save();
    const { context } = await place.service.load({ checkpointId });
    await place.service.save({ sessionId: 'odd', context: { ...context, ...(change as JsonObject) } });
    const odd = { checkpointId: 'odd@1', trustContext: true };
    expect(await rejection(place.branch('branch', odd).start())).toBe(code);
    expect(await fs.readdir(path.join(place.dir, 'agents'))).toEqual([AGENT_ID]);
  });

  it('is found by the id of the agent, with its kind', async () => {
    const { place } = await spoken();
    await place.save({ sessionId: 'trip', metadata: { name: 'before the flight', tags: ['trip'] } });
    await place.service.save({ sessionId: 'other', context: {} });
    const { checkpoints } = await place.service.list({ agentId: AGENT_ID });
    expect(checkpoints).toMatchObject([{ id: 'trip@1', kind: 'agent', name: 'before the flight' }]);
  });

  it('that did not change is not saved again, and with force it is', async () => {
    const { place } = await spoken();
    expect(await place.save()).toMatchObject({ status: 'SAVED', checkpointId: 'ada@1' });
    expect(await place.save()).toMatchObject({ status: 'SKIPPED_UNCHANGED', checkpointId: 'ada@1' });
    const agent = place.restored(AGENT_ID);
    await agent.start();
    await agent.stop();
    expect(await place.save()).toMatchObject({ status: 'SKIPPED_UNCHANGED', checkpointId: 'ada@1' });
    expect(await place.save({ force: true })).toMatchObject({ status: 'SAVED', checkpointId: 'ada@2' });
  });

  it('that is not there is AGENT_NOT_FOUND, and no session begins', async () => {
    const { place } = await spoken();
    expect(await rejection(checkpointAgent(place.service, place.storage, 'nobody'))).toBe('AGENT_NOT_FOUND');
    expect((await place.service.list()).total).toBe(0);
    expect(await fs.readdir(path.join(place.dir, 'agents'))).toEqual([AGENT_ID]);
  });
});
