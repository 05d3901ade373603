/** Forks: a new agent with the past of another one up to a turn or a record. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Agent } from '../../../src/agent/agent.js';
import type { AgentConfig } from '../../../src/agent/context/agent-config.js';
import { createAgent, openAgent } from '../../../src/agent/factory/agent-factory.js';
import { forkAgent } from '../../../src/agent/forks/fork-agent.js';
import { ScriptedModel, type ScriptStep } from '../../../src/agent/model/scripted-model.js';
import type { ToolDefinition } from '../../../src/core/tool-definition.js';
import { agentHistory } from '../../../src/memory/lineage/agent-history.js';
import { verifyAgent } from '../../../src/memory/maintenance/verify-agent.js';
import { readTurns, searchAgent } from '../../../src/memory/recall/search-agent.js';
import { type Message, textOf, toolResultOf } from '../../../src/messages/message.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { EnvironmentKeys } from '../../../src/storage/sealing/environment-keys.js';
import { withSealing } from '../../../src/storage/sealing/sealed-storage.js';
import { counter } from '../../state/durable/counter.js';
import { agentFixture } from '../agent-fixture.js';

const KEYS = new EnvironmentKeys({ REKINDLE_MASTER_KEY: 'ab'.repeat(32) });
const NOW = { nowMs: Date.UTC(2026, 4, 1) };

function storageInMemory(): MemoryStorage {
  const storage = new MemoryStorage();
  onTestFinished(() => storage.close());
  return storage;
}

async function started(
  storage: StorageBackend,
  script: readonly ScriptStep[],
  config: Partial<AgentConfig> = {},
): Promise<Agent> {
  const agent = createAgent({ agentId: 'desk', storage, model: new ScriptedModel(script), ...config });
  await agent.start();
  onTestFinished(() => agent.stop({ graceMs: 0 }).catch(() => {}));
  return agent;
}

async function opened(
  storage: StorageBackend,
  agentId: string,
  script: readonly ScriptStep[] = [],
): Promise<Agent> {
  const agent = await openAgent(agentId, { storage, model: new ScriptedModel(script) });
  onTestFinished(() => agent.stop({ graceMs: 0 }).catch(() => {}));
  return agent;
}

/** Three turns: "Question n." with "Answer n.". Stopped. */
async function deskIn(storage: StorageBackend): Promise<readonly (readonly Message[])[]> {
  const agent = await started(
    storage,
    [1, 2, 3].map((n) => ({ text: `Answer ${n}.` })),
  );
  const contexts: (readonly Message[])[] = [];
  for (const n of [1, 2, 3]) {
    await agent.send(`Question ${n}.`);
    contexts.push(agent.messages);
  }
  await agent.stop();
  return contexts;
}

const seen = (messages: readonly Message[]) => messages.map((message) => [message.role, textOf(message)]);

describe('a fork', () => {
  it.each(['files', 'sealed files', 'sqlite', 'memory'])(
    'has the context of its source after a turn, on %s',
    async (kind) => {
      const { dir } = await agentFixture();
      const plain =
        kind === 'memory'
          ? storageInMemory()
          : openStorage(kind === 'sqlite' ? `sqlite:${dir}/store.db` : dir);
      const storage = kind === 'sealed files' ? withSealing(plain, KEYS) : plain;
      onTestFinished(() => storage.close());
      const contexts = await deskIn(storage);
      for (const turn of [1, 2, 3]) {
        const fork = await forkAgent(storage, 'desk', { at: { turn }, as: `desk-${turn}` });
        expect(fork.forkedFrom).toMatchObject({ agentId: 'desk', turn });
        const agent = await opened(storage, fork.agentId);
        expect(seen(agent.messages)).toEqual(seen(contexts[turn - 1]!));
        await agent.stop();
        expect(await verifyAgent(storage, fork.agentId)).toMatchObject({ problems: [] });
      }
    },
  );

  it('leaves its source untouched', async () => {
    const { dir, files } = await agentFixture();
    const storage = openStorage(dir);
    onTestFinished(() => storage.close());
    await deskIn(storage);
    const before = await files();
    await forkAgent(storage, 'desk', { at: { turn: 1 }, as: 'other' });
    const after = [...(await files())].filter(([name]) => !name.startsWith('agents/other/'));
    expect(new Map(after)).toEqual(before);
  });

  it('goes on with the next turn number and with higher record numbers than its source has there', async () => {
    const storage = storageInMemory();
    await deskIn(storage);
    const { forkedFrom } = await forkAgent(storage, 'desk', { at: { turn: 2 }, as: 'other' });
    const agent = await opened(storage, 'other', [{ text: 'Another answer.' }]);
    await agent.send('Another question.');
    const { turns } = await agentHistory(storage, 'other');
    expect(turns.map(({ turn, agentId, request }) => [turn, agentId, request])).toEqual([
      [3, 'other', 'Another question.'],
      [2, 'desk', 'Question 2.'],
      [1, 'desk', 'Question 1.'],
    ]);
    expect(turns[0]!.firstRecord).toBeGreaterThan(forkedFrom.record);
    expect(turns[1]!.lastRecord).toBe(forkedFrom.record);
  });

  it('leaves between two steps of a turn, by the number of a record', async () => {
    const storage = storageInMemory();
    const look: ToolDefinition = {
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object' },
      execute: async () => 'a door',
    };
    const agent = await started(storage, [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'Done.' }], {
      tools: [look],
    });
    await agent.send('What is there?');
    const found = await readTurns(storage, 'desk', { fromTurn: 1, toTurn: 1 });
    const result = found.find(({ speaker }) => speaker === 'tool')!;
    const { agentId } = await agent.fork({ at: { record: result.seq } });
    const fork = await opened(storage, agentId, [{ text: 'A door.' }]);
    expect(fork.memory.frontier.kind).toBe('awaiting_assistant');
    expect((await fork.resume()).text).toBe('A door.');
  });

  it('gets the outcome of a call that had none yet, and does not run it again', async () => {
    const storage = storageInMemory();
    let runs = 0;
    const pay: ToolDefinition = {
      name: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object' },
      execute: async () => `receipt ${++runs}`,
    };
    const agent = await started(
      storage,
      [{ calls: [{ name: 'pay', arguments: { amount: 5 } }] }, { text: 'Paid.' }],
      {
        tools: [pay],
      },
    );
    await agent.send('Pay.');
    const [call] = (await readTurns(storage, 'desk', { fromTurn: 1, toTurn: 1 })).filter(
      ({ speaker }) => speaker === 'call',
    );
    const { agentId } = await agent.fork({ at: { record: call!.seq } });
    const fork = await opened(storage, agentId);
    expect(fork.messages.map((message) => toolResultOf(message)?.toolResult).filter(Boolean)).toEqual([
      'receipt 1',
    ]);
    expect(fork.memory.openCalls()).toEqual([]);
    expect(runs).toBe(1);
  });

  it('has the facts and the state of that time', async () => {
    const storage = storageInMemory();
    const agent = await started(storage, [{ text: 'One.' }, { text: 'Two.' }]);
    const state = await StateManager.open({ ...counter, backend: storage });
    await agent.memory.facts.remember('Tea is liked.', { source: 'user' });
    await state.update((draft) => void (draft.count = 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await agent.send('First.');
    await new Promise((resolve) => setTimeout(resolve, 5));
    await state.update((draft) => void (draft.count = 2));
    await agent.memory.facts.remember('Coffee is hated.', { source: 'user' });
    await agent.send('Second.');
    await state.close();
    await agent.fork({ at: { turn: 1 }, as: 'other' });
    const fork = await opened(storage, 'other');
    expect((await fork.memory.facts.list()).map(({ text }) => text)).toEqual(['Tea is liked.']);
    const folder = ['agents', 'other', 'state'];
    const forked = await StateManager.open({ ...counter, backend: storage, folder });
    onTestFinished(() => forked.close());
    expect((await forked.load()).value).toMatchObject({ count: 1 });
  });

  it('finds what its source recorded before the fork, and nothing later', async () => {
    const storage = storageInMemory();
    const agent = await started(storage, [{ text: 'Noted.' }, { text: 'Noted, too.' }, { text: 'Yes.' }]);
    await agent.send('The marmalade password is hunter2.');
    await agent.send('The second marmalade password is swordfish.');
    await agent.fork({ at: { turn: 1 }, as: 'other' });
    const { hits } = await searchAgent(storage, 'other', { text: 'marmalade password', ...NOW });
    expect(hits.map(({ passage }) => passage.text)).toEqual(['The marmalade password is hunter2.', 'Noted.']);
    expect((await readTurns(storage, 'other', { fromTurn: 1, toTurn: 2 })).map(({ text }) => text)).toEqual([
      'The marmalade password is hunter2.',
      'Noted.',
    ]);
  });

  it('recalls, before a request, what had left the context of its source', async () => {
    const storage = storageInMemory();
    const long = 'We talk about the weather, the garden and the train to the coast. '.repeat(40);
    const script = Array.from({ length: 12 }, (_, n) => ({ text: `${n} ${long}` }));
    const agent = await started(storage, script, { memory: { compaction: { inputBudgetTokens: 4_000 } } });
    await agent.send('The password of the marmalade cupboard is hunter2.');
    for (let n = 1; n < 12; n += 1) await agent.send(`Go on, ${n}.`);
    expect(
      agent.messages.some((message) => textOf(message).includes('hunter2') && message.kind !== 'memory'),
    ).toBe(false);
    await agent.fork({ as: 'other' });
    const fork = await openAgent('other', {
      storage,
      model: new ScriptedModel([{ text: 'It is hunter2.' }]),
      memory: { compaction: { inputBudgetTokens: 4_000 } },
    });
    onTestFinished(() => fork.stop({ graceMs: 0 }));
    await fork.send('What is the password of the marmalade cupboard?');
    const recalled = fork.messages.find(({ kind }) => kind === 'recall');
    expect(recalled && textOf(recalled)).toContain('hunter2');
  });

  it('of a fork has the past of both, also from a turn that the first source recorded', async () => {
    const storage = storageInMemory();
    await deskIn(storage);
    await forkAgent(storage, 'desk', { at: { turn: 2 }, as: 'b' });
    const second = await opened(storage, 'b', [{ text: 'In b.' }]);
    await second.send('To b.');
    await forkAgent(storage, 'b', { as: 'c' });
    expect((await agentHistory(storage, 'c')).turns.map(({ turn, agentId }) => `${turn} ${agentId}`)).toEqual(
      ['3 b', '2 desk', '1 desk'],
    );
    const early = await forkAgent(storage, 'c', { at: { turn: 1 }, as: 'd' });
    expect(early.forkedFrom).toMatchObject({ agentId: 'desk', turn: 1 });
    expect((await agentHistory(storage, 'desk')).forks).toEqual(['b', 'c', 'd']);
    expect((await agentHistory(storage, 'b')).forks).toEqual(['c']);
  });

  it('keeps its context, and loses the rest of the past, when its source is gone', async () => {
    const storage = storageInMemory();
    const contexts = await deskIn(storage);
    await forkAgent(storage, 'desk', { at: { turn: 2 }, as: 'other' });
    const { erase } = await import('../../../src/agent/erasure/erase.js');
    await erase(storage, { agent: 'desk' }, { keepForks: true });
    await started(storage, [{ text: 'A stranger.' }]).then((agent) =>
      agent.send('A secret of another desk.'),
    );
    const agent = await opened(storage, 'other');
    expect(seen(agent.messages)).toEqual(seen(contexts[1]!));
    const { hits } = await searchAgent(storage, 'other', { text: 'secret question', ...NOW });
    const found = hits.map(({ passage }) => passage.text).sort();
    expect(found).toEqual(['Answer 1.', 'Answer 2.', 'Question 1.', 'Question 2.']); // of its own copy
  });

  it.each([
    [{ turn: 4 }, /no turn 4/],
    [{ record: 900 }, /no record 900/],
    [{ turn: 0 }, /must name a turn or a record/],
    [{ record: 1.5 }, /must name a turn or a record/],
    [{ record: 1 }, /had no message/],
  ])('is refused at %j, and leaves nothing behind', async (at, message) => {
    const storage = storageInMemory();
    await deskIn(storage);
    await expect(forkAgent(storage, 'desk', { at, as: 'other' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message),
    });
    expect(await storage.listNames(['agents'])).toEqual(['desk']);
  });

  it('is refused under an id that exists', async () => {
    const storage = storageInMemory();
    await deskIn(storage);
    await expect(forkAgent(storage, 'desk', { as: 'desk' })).rejects.toMatchObject({ code: 'AGENT_EXISTS' });
  });
});

describe('an erasure of what forks hold', () => {
  it('is refused with their ids: the agent, and a turn that they have', async () => {
    const storage = storageInMemory();
    await deskIn(storage);
    await forkAgent(storage, 'desk', { at: { turn: 2 }, as: 'other' });
    const { erase } = await import('../../../src/agent/erasure/erase.js');
    for (const target of [{ agent: 'desk' }, { agent: 'desk', turn: 1 }])
      await expect(erase(storage, target)).rejects.toMatchObject({
        code: 'ERASURE_REFUSED',
        details: { forks: ['other'] },
      });
    await erase(storage, { agent: 'desk', turn: 3 }); // the fork left before it
  });

  it('of a turn in the fork removes it there', async () => {
    const storage = storageInMemory();
    await deskIn(storage);
    await forkAgent(storage, 'desk', { at: { turn: 2 }, as: 'other' });
    const { erase } = await import('../../../src/agent/erasure/erase.js');
    await erase(storage, { agent: 'other', turn: 1 });
    await erase(storage, { agent: 'desk', turn: 1 }, { keepForks: true });
    const agent = await opened(storage, 'other');
    expect(JSON.stringify(agent.messages)).not.toContain('Question 1.');
    expect(JSON.stringify(agent.messages)).toContain('Question 2.');
  });
});
