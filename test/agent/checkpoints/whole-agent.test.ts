/** What a checkpoint of an agent holds beside its context: memories, artifacts, durable state. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkpointAgent } from '../../../src/agent/checkpoints/checkpoint-agent.js';
import type { Summarizer } from '../../../src/memory/compaction/summarizer.js';
import type { MemoryOptions } from '../../../src/memory/open-memory.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import type { Name } from '../../../src/storage/ports.js';
import { FaultyFileSystem } from '../../../src/storage/simulated/faulty-file-system.js';
import { counter } from '../../state/durable/counter.js';
import { AGENT_ID } from '../agent-fixture.js';
import { answers, BranchPlace, bytesOf } from './branch-kit.js';

const summarizer: Summarizer = {
  summarize: async (turns) => ({
    episodicSummary: `They spoke ${turns.length} times.`,
    semanticFacts: [{ fact: 'The user likes tea.', category: 'user_preference' }, { fact: 'It rains.' }],
  }),
};
const memory: MemoryOptions = {
  compaction: { rawTailTurns: 1 },
  summarizer,
  tokenCounter: { countMessages: async (messages) => messages.length },
};

/** A document in a folder, as another program would have it; without a count it is only read. */
async function count(place: BranchPlace, folder: Name, to?: number): Promise<number> {
  const state = await StateManager.open({ ...counter, backend: place.storage, folder });
  try {
    if (to !== undefined) await state.update((draft) => void (draft.count = to));
    return (await state.load()).value.count;
  } finally {
    await state.close();
  }
}

describe('the memory of a branch', () => {
  it('is what it was then: items, epoch and the time of the compaction', async () => {
    const place = await BranchPlace.make();
    const agent = await place.started(answers(6), { memory });
    for (let turn = 1; turn <= 3; turn += 1) await agent.send(`Question ${turn}.`);
    await agent.memory.compact();
    await agent.send('Question 4.');
    const then = await place.imageOf(AGENT_ID);
    const { checkpointId } = await place.save();
    await agent.send('Question 5.');
    await agent.memory.compact();
    const branch = place.branch('branch', checkpointId);
    await branch.start();
    expect(branch.memory.epochId).toBe(2);
    expect(await branch.memory.store.listEpisodic()).toHaveLength(1);
    expect((await branch.memory.store.listSemantic()).map(({ fact }) => fact)).toEqual([
      'The user likes tea.',
      'It rains.',
    ]);
    expect(await place.imageOf('branch')).toEqual(then);
  });

  it('grows by itself: the next compaction adds to it, and not to that of the first agent', async () => {
    const place = await BranchPlace.make();
    const agent = await place.started(answers(3), { memory });
    for (let turn = 1; turn <= 3; turn += 1) await agent.send(`Question ${turn}.`);
    await agent.memory.compact();
    const branch = place.branch('branch', (await place.save()).checkpointId, answers(2), { memory });
    await branch.start();
    for (let turn = 1; turn <= 2; turn += 1) await branch.send(`Other ${turn}.`);
    await branch.memory.compact();
    expect(branch.memory.epochId).toBe(3);
    expect(await branch.memory.store.listEpisodic()).toHaveLength(2);
    expect(await agent.memory.store.listEpisodic()).toHaveLength(1);
    const before = bytesOf(branch);
    await branch.stop();
    const next = place.restored('branch', [], { memory });
    await next.start();
    expect(bytesOf(next)).toBe(before);
    expect(await next.memory.store.listEpisodic()).toHaveLength(2);
  });

  it('has the items of a compaction that a crash kept from their journals, as a restore has them', async () => {
    const place = await BranchPlace.make();
    const disk = new FaultyFileSystem(new NodeFileSystem());
    const storage = new FileStorage(place.dir, { fileSystem: disk, durability: 'relaxed' });
    const agent = await place.started(answers(3), { memory, storage });
    for (let turn = 1; turn <= 3; turn += 1) await agent.send(`Question ${turn}.`);
    const only = (call: string, file: string) => call === 'file.write' && /episodic|semantic/.test(file);
    disk.setFault({ at: 1, kind: 'EIO', sticky: true, only });
    await agent.memory.compact();
    const { checkpointId } = await place.save();
    const branch = place.branch('branch', checkpointId);
    await branch.start();
    expect(branch.memory.epochId).toBe(2);
    expect(await branch.memory.store.listEpisodic()).toHaveLength(1);
    expect(await branch.memory.store.listSemantic()).toHaveLength(2);
  });
});

describe('an artifact in the context', () => {
  it('is in the checkpoint: it is there when the folder of the first agent is gone', async () => {
    const place = await BranchPlace.make();
    const bytes = Buffer.from('89504e470d0a1a0a00ff', 'hex');
    const agent = await place.started(answers(1));
    await agent.send({ text: 'Look.', media: [{ kind: 'image', mime: 'image/png', data: bytes }] });
    const context = bytesOf(agent);
    const { checkpointId } = await place.save();
    await agent.stop();
    await fs.rm(path.join(place.dir, 'agents', AGENT_ID), { recursive: true });
    const branch = place.branch('branch', checkpointId);
    await branch.start();
    expect(bytesOf(branch)).toBe(context);
    const part = branch.messages[0]?.parts?.find(({ type }) => type === 'media');
    const ref = part?.type === 'media' ? part.media.ref : '';
    expect(Buffer.from((await branch.memory.getArtifact(ref))!)).toEqual(bytes);
  });
});

describe('the durable state', () => {
  it('of then comes into the folder of the branch, and that of today stays', async () => {
    const place = await BranchPlace.make();
    const agent = await place.started(answers(1));
    await agent.send('Hi.');
    await count(place, ['state'], 3);
    const { checkpointId } = await place.save();
    await count(place, ['state'], 4);
    const branch = place.branch('branch', checkpointId);
    await branch.start();
    expect(await count(place, ['agents', 'branch', 'state'])).toBe(3);
    expect(await count(place, ['state'])).toBe(4);
    await count(place, ['agents', 'branch', 'state'], 9);
    expect(await count(place, ['state'])).toBe(4);
  });

  it('of its own folder goes before the one that agents share', async () => {
    const place = await BranchPlace.make();
    const agent = await place.started(answers(1));
    await agent.send('Hi.');
    await count(place, ['state'], 3);
    await count(place, ['agents', AGENT_ID, 'state'], 7);
    await place.branch('branch', (await place.save()).checkpointId).start();
    expect(await count(place, ['agents', 'branch', 'state'])).toBe(7);
  });

  it('of a branch is what its own checkpoints have', async () => {
    const place = await BranchPlace.make();
    const agent = await place.started(answers(1));
    await agent.send('Hi.');
    await count(place, ['state'], 3);
    await place.branch('second', (await place.save()).checkpointId).start();
    await count(place, ['agents', 'second', 'state'], 8);
    const { checkpointId } = await checkpointAgent(place.service, place.storage, 'second');
    await place.branch('third', checkpointId).start();
    expect(await count(place, ['agents', 'third', 'state'])).toBe(8);
  });

  it('comes from a folder that is named, and with null from none', async () => {
    const place = await BranchPlace.make();
    const agent = await place.started(answers(1));
    await agent.send('Hi.');
    await count(place, ['state'], 3);
    await count(place, ['elsewhere'], 5);
    await place.branch('named', (await place.save({ stateFolder: ['elsewhere'] })).checkpointId).start();
    await place.branch('none', (await place.save({ stateFolder: null })).checkpointId).start();
    expect(await count(place, ['agents', 'named', 'state'])).toBe(5);
    expect(await place.filesOf('none')).not.toContain('agents/none/state/counter.json');
    expect(await count(place, ['agents', 'none', 'state'])).toBe(0);
  });

  it('keeps what its documents refer to', async () => {
    const place = await BranchPlace.make();
    const agent = await place.started(answers(1));
    await agent.send('Hi.');
    const folder = ['agents', AGENT_ID, 'state'];
    const notes = {
      name: 'notes',
      schema: {
        type: 'object',
        required: ['schema_version', 'log'],
        properties: { schema_version: { const: 1 }, log: { type: 'string' } },
      },
      initial: { schema_version: 1, log: '' },
      backend: place.storage,
    } as const;
    const first = await StateManager.open({ ...notes, folder });
    const log = await first.attach(Buffer.from('A long log.'));
    await first.update((draft) => void (draft.log = log));
    await first.close();
    await place.branch('branch', (await place.save()).checkpointId).start();
    const second = await StateManager.open({ ...notes, folder: ['agents', 'branch', 'state'] });
    expect((await second.load()).value.log).toBe(log);
    const bytes = await second.artifact(log);
    await second.close();
    expect(bytes && Buffer.from(bytes).toString()).toBe('A long log.');
  });
});
