/** The calls of the seed on the working context snapshot, as it writes them: through the public names, on files. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { AgentFactory, AgentRuntimeState, ScriptedModel } from '../../src/agent/index.js';
import {
  CompactionSnapshotBuilder,
  type MemoryBundle,
  MemoryManager,
  MemoryStore,
  messagesOfTraces,
  Retriever,
  type Trace,
  WorkingContextSnapshot,
  WorkingContextSnapshotBootstrapOptions,
  WorkingContextSnapshotBootstrapper,
  WorkingContextSnapshotSerializer,
  WorkingContextSnapshotStore,
} from '../../src/memory/index.js';
import { checkHistory } from '../../src/messages/legality/history.js';
import type { Message } from '../../src/messages/message.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import {
  AGENT,
  answer,
  ask,
  call,
  filePlace,
  folderState,
  openAgent,
  sketch,
  sketchOf,
  talk,
  tempFolder,
} from './memory-kit.js';

const NO_MEMORY: MemoryBundle = { episodic: [], semantic: [] };
const BUNDLE: MemoryBundle = {
  episodic: [{ id: 'ep_1', ts: 1, turnIds: [], summary: 'They talked.', salience: 0 }],
  semantic: [],
};
const MEMORY = 'memory: [MEMORY:EPISODIC]\n1) They talked.';

/** A conversation with media, reasoning, two calls with their results out of order, and an answer. */
async function conversation(memory: MemoryManager): Promise<void> {
  const turn = memory.startTurn();
  const media = [{ kind: 'image' as const, mime: 'image/png', data: new Uint8Array([1, 2, 3]) }];
  await memory.ingestUserMessage({ text: 'What is this?', media }, turn);
  const reasoningContent = 'I look at it.';
  const toolCalls = [call('a'), call('b')];
  await memory.ingestAssistantResponse({ content: 'A moment.', reasoningContent, toolCalls }, turn);
  await memory.ingestToolResults([answer('b'), answer('a', { found: ['cat'] })], turn);
  await memory.ingestAssistantResponse({ content: 'A cat.' }, turn);
}

describe('plain options of a restore', () => {
  it('have the defaults of what they leave out, so that a call that waits for approval stays open', async () => {
    const place = await filePlace();
    const { memory, close } = await openAgent(place);
    const turn = await ask(memory, 'Pay.', 'pay');
    const { name: toolName } = call('pay');
    await memory.ledger.approvalRequested({ callId: 'pay', turnId: turn, toolName });
    await close();
    const store = new MemoryStore(place.root, AGENT);
    const manager = new MemoryManager({ store });
    const bootstrapper = new WorkingContextSnapshotBootstrapper();
    const report = await bootstrapper.bootstrap(manager, 'Be kind.', { maxEpisodic: 3 });
    expect(report.interruptedCalls).toMatchObject([{ callId: 'pay', waitsFor: 'approval', leftOpen: true }]);
    expect(sketchOf(manager)).toStrictEqual(['system: Be kind.', 'user: Pay.', 'assistant calls pay']);
    await manager.close();
  });

  it('are followed: maxEpisodic, and what an instance of the class says', async () => {
    const place = await filePlace();
    const rows = ['They met.', 'They talked.'].map((summary) => ({ summary, turn_ids: [] }));
    await place.put('episodic.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const restored = async (options: WorkingContextSnapshotBootstrapOptions | { maxEpisodic: number }) => {
      const manager = new MemoryManager({ store: new MemoryStore(place.root, AGENT) });
      await new WorkingContextSnapshotBootstrapper().bootstrap(manager, '', options);
      await manager.close();
      return sketchOf(manager);
    };
    expect(await restored({ maxEpisodic: 1 })).toStrictEqual([MEMORY]);
    const both = ['memory: [MEMORY:EPISODIC]\n1) They met.\n2) They talked.'];
    expect(await restored(new WorkingContextSnapshotBootstrapOptions())).toStrictEqual(both);
  });

  it('are whole on the state of an agent, which a step reads', () => {
    const state = new AgentRuntimeState();
    expect(state.restoreOptions).toBeNull();
    state.restoreOptions = { maxEpisodic: 1 };
    expect(state.restoreOptions).toStrictEqual(
      new WorkingContextSnapshotBootstrapOptions({ maxEpisodic: 1 }),
    );
    expect(state.restoreOptions).toMatchObject({ keepPendingApprovals: true, maxSemantic: 20 });
    state.restoreOptions = null;
    expect(state.restoreOptions).toBeNull();
  });

  it('reach the restore through restoreAgent(agentId, config, memoryDir, options)', async () => {
    const place = await filePlace();
    const { memory, close } = await openAgent(place, { system: 'Be kind.' });
    await talk(memory, 'Hi', 'Hello');
    await close();
    const factory = new AgentFactory();
    const config = { model: new ScriptedModel([]) };
    const agent = factory.restoreAgent(AGENT, config, place.root, { ignoreCache: true });
    await agent.start();
    expect(agent.restoreReport).toMatchObject({ source: 'rebuilt', messages: 3 });
    await agent.stop();
  });
});

describe('appendToolResult', () => {
  class Found {
    readonly at = new Date(0);
    readonly count = 2n;
  }
  const cycle: Record<string, unknown> = { name: 'loop' };
  cycle['self'] = cycle;
  const values: [string, unknown, unknown][] = [
    ['a JSON value', { files: ['a'] }, { files: ['a'] }],
    ['an object of a class', new Found(), { at: '1970-01-01T00:00:00.000Z', count: '2' }],
    ['a map', new Map([['a', 1]]), { a: 1 }],
    ['a cycle', cycle, { name: 'loop', self: '[circular]' }],
    ['a number that JSON lacks', Number.NaN, 'NaN'],
    ['nothing', undefined, null],
  ];

  it.each(values)('takes %s as unknown, and records it as ingestion does', async (_, value, json) => {
    const snapshot = new WorkingContextSnapshot();
    snapshot.appendUser('Go');
    snapshot.appendToolCalls([call('a')]);
    expect(snapshot.appendToolResult('a', 'tool_a', value)).toBe('placed');
    expect(snapshot.messages.at(-1)?.toolPayload).toMatchObject({ toolResult: json, toolError: null });
    const { memory } = await openAgent(await filePlace());
    const turn = await ask(memory, 'Go', 'a');
    await memory.ingestToolResults([{ ...answer('a'), result: value }], turn);
    const ingested = memory.getWorkingContextMessages().at(-1)?.toolPayload;
    expect(snapshot.messages.at(-1)?.toolPayload).toStrictEqual(ingested);
    const document = WorkingContextSnapshotSerializer.serialize(snapshot, { agent_id: AGENT });
    expect(JSON.parse(JSON.stringify(document))).toStrictEqual(document);
  });

  it('shares nothing with the value: a later change of it does not reach the context', () => {
    const snapshot = new WorkingContextSnapshot();
    snapshot.appendToolCalls([call('a')]);
    const value = { files: ['a'] };
    snapshot.appendToolResult('a', 'tool_a', value);
    value.files.push('b');
    expect(snapshot.messages.at(-1)?.toolPayload).toMatchObject({ toolResult: { files: ['a'] } });
  });
});

describe('messagesOfTraces', () => {
  it('gives the context that the traces made: media, reasoning, and each result behind its call', async () => {
    const { memory } = await openAgent(await filePlace());
    await conversation(memory);
    const tail: Trace[] = await memory.getRawTail(9);
    const messages: Message[] = messagesOfTraces(tail);
    expect(messages).toStrictEqual(memory.getWorkingContextMessages());
    expect(messages[0]?.parts?.[1]).toMatchObject({ type: 'media', media: { kind: 'image', bytes: 3 } });
    expect(messages[1]).toMatchObject({ content: 'A moment.', reasoningContent: 'I look at it.' });
    expect(sketch(messages).slice(1)).toStrictEqual([
      'assistant calls a b: A moment.',
      'tool a = {"found":["cat"]}',
      'tool b = "result of b"',
      'assistant: A cat.',
    ]);
  });

  it('leaves a call without a result open, and a result without its call out', async () => {
    const { memory } = await openAgent(await filePlace());
    const turn = await ask(memory, 'Go', 'a', 'b');
    await memory.ingestToolResults([answer('b')], turn);
    const traces = await memory.getRawTail(1);
    const list = ['user: Go', 'assistant calls a b', 'tool b = "result of b"'];
    expect(sketch(messagesOfTraces(traces))).toStrictEqual(list);
    expect(messagesOfTraces(traces.filter(({ type }) => type === 'tool_result'))).toStrictEqual([]);
  });

  it('takes no position of the whole list for one of the tail: compactions and boundaries add nothing', async () => {
    const { memory } = await openAgent(await filePlace(), { system: 'Be kind.' });
    await talk(memory, 'q1', 'a1');
    const traces = await memory.getRawTail(1);
    const envelope = { id: 'x', ts: 1, turnId: 'turn_0001', seq: 9, sourceEvent: '' };
    const edits = [{ at: 7, message: { role: 'user' as const, content: 'shortened' } }];
    const boundary = { kind: 'edit' as const, rung: 'trim' as const, edits };
    const repair = { kind: 'repair' as const, at: 0, deleteCount: 9, insert: [], codes: [] };
    const others: Trace[] = [
      { ...envelope, type: 'boundary', boundary },
      { ...envelope, type: 'boundary', boundary: repair },
      {
        ...envelope,
        type: 'compaction',
        epochId: 2,
        lastCompactionTs: 1,
        messages: [],
        episodic: [],
        semantic: [],
        lastTurn: 1,
      },
    ];
    expect(sketch(messagesOfTraces([...traces, ...others]))).toStrictEqual(['user: q1', 'assistant: a1']);
  });
});

describe('the steps of a rebuild: retrieve, getRawTail, build, resetWorkingContextSnapshot', () => {
  it('give a legal context of the prompt, the memory and the last turns', async () => {
    const place = await filePlace();
    const { memory } = await openAgent(place);
    await talk(memory, 'q1', 'a1');
    await memory.store.addEpisodic(BUNDLE.episodic);
    await conversation(memory);
    const said = memory.getWorkingContextMessages().slice(2);
    const bundle = await new Retriever(memory.store).retrieve(3, 20);
    const rawTail = await memory.getRawTail(1);
    const snapshot = new CompactionSnapshotBuilder().build('Be kind.', bundle, rawTail);
    expect(sketch(snapshot).slice(0, 2)).toStrictEqual(['system: Be kind.', MEMORY]);
    expect(snapshot.slice(2)).toStrictEqual(said);
    expect(checkHistory(snapshot)).toStrictEqual([]);
    await memory.resetWorkingContextSnapshot(snapshot);
    expect(memory.getWorkingContextMessages()).toStrictEqual(snapshot);
    expect((await openAgent(place)).memory.getWorkingContextMessages()).toStrictEqual(snapshot);
  });

  it('keep a call open, so that its late result goes to it', async () => {
    const { memory } = await openAgent(await filePlace());
    await talk(memory, 'q1', 'a1');
    const turn = await ask(memory, 'Go', 'a');
    const rawTail = await memory.getRawTail(1);
    await memory.resetWorkingContextSnapshot(
      new CompactionSnapshotBuilder().build('Be kind.', BUNDLE, rawTail),
    );
    const list = ['system: Be kind.', MEMORY, 'user: Go', 'assistant calls a'];
    expect(sketchOf(memory)).toStrictEqual(list);
    await memory.ingestToolResults([answer('a')], turn);
    expect(sketchOf(memory)).toStrictEqual([...list, 'tool a = "result of a"']);
  });

  it('give the same list for traces as for the messages that they make', async () => {
    const { memory } = await openAgent(await filePlace());
    await conversation(memory);
    const [, ...traces] = await memory.getRawTail(1); // begins with an answer
    const builder = new CompactionSnapshotBuilder();
    for (const bundle of [NO_MEMORY, BUNDLE]) {
      const list = builder.build('', bundle, traces);
      expect(list).toStrictEqual(builder.build('', bundle, messagesOfTraces(traces)));
      expect(checkHistory(list)).toStrictEqual([]);
    }
  });

  it('refuse messages and traces in one list', async () => {
    const { memory } = await openAgent(await filePlace());
    await talk(memory, 'q1', 'a1');
    const mixed = [...(await memory.getRawTail(1)), { role: 'user', content: 'Hi' }] as Trace[];
    const build = () => new CompactionSnapshotBuilder().build('', NO_MEMORY, mixed);
    expect(build).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });
});

describe('a store with a base folder', () => {
  const document = { schema_version: 1, agent_id: AGENT, epoch_id: 4, messages: [] };

  it('has the snapshot at agents/<agentId>/working_context_snapshot.json', async () => {
    const folder = await tempFolder();
    const store = new WorkingContextSnapshotStore(folder, AGENT);
    expect(await store.exists(AGENT)).toBe(false);
    expect(await store.read(AGENT)).toBeNull();
    const payload: Record<string, unknown> = document;
    await store.write(AGENT, payload);
    await store.close();
    const file = path.join(folder, 'agents', AGENT, 'working_context_snapshot.json');
    expect(JSON.parse(await fs.readFile(file, 'utf8'))).toMatchObject(document);
    const next = new WorkingContextSnapshotStore(`file:${folder}`, AGENT);
    expect(await next.exists(AGENT)).toBe(true);
    expect(await next.read(AGENT)).toStrictEqual(document);
    await next.close();
  });

  it('refuses an address that is not known', () => {
    const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT' });
    expect(() => new WorkingContextSnapshotStore('nowhere:x', AGENT)).toThrow(refused);
    expect(() => new MemoryStore('nowhere:x', AGENT)).toThrow(refused);
  });

  it('closes the storage that it opened, and no other', async () => {
    const folder = await tempFolder();
    const address = `sqlite:${path.join(folder, 'agents.db')}`;
    const isOpen = async () => (await fs.readdir(folder)).includes('agents.db-wal'); // its last connection removes it
    const snapshots = new WorkingContextSnapshotStore(address, AGENT);
    await snapshots.write(AGENT, document);
    expect(await isOpen()).toBe(true);
    await snapshots.close();
    expect(await isOpen()).toBe(false);
    const memories = new MemoryStore(address, AGENT);
    expect(await memories.listEpisodic()).toStrictEqual([]);
    expect(await isOpen()).toBe(true);
    await memories.close();
    expect(await isOpen()).toBe(false);
    const backend = new FileStorage(folder);
    const close = vi.spyOn(backend, 'close');
    await new WorkingContextSnapshotStore(backend, AGENT).close();
    await new MemoryStore(backend, AGENT, null).close();
    expect(close).not.toHaveBeenCalled();
    await backend.close();
  });

  it('reads the memory of an agent that another process has open, and restores its context', async () => {
    const place = await filePlace();
    const writer = await openAgent(place, { system: 'Be kind.' });
    await conversation(writer.memory);
    await writer.memory.store.addEpisodic(BUNDLE.episodic);
    const before = await folderState(place.root, { leases: true });
    const memory = new MemoryManager({
      store: new MemoryStore(place.root, AGENT),
      snapshotStore: new WorkingContextSnapshotStore(place.root, AGENT),
    });
    await new WorkingContextSnapshotBootstrapper().bootstrap(memory, 'Be kind.', {});
    expect(memory.getWorkingContextMessages()).toStrictEqual(writer.memory.getWorkingContextMessages());
    expect(await memory.store.listEpisodic()).toStrictEqual(BUNDLE.episodic);
    await memory.close();
    await memory.snapshotStore.close();
    expect(await folderState(place.root, { leases: true })).toStrictEqual(before);
  });

  it('refuses to write the memory, says what to do, and leaves nothing on disk', async () => {
    const folder = await tempFolder();
    const store = new MemoryStore(folder, AGENT);
    const memory = new MemoryManager({ store });
    const refused = {
      code: 'JOURNAL_CLOSED',
      message: expect.stringContaining('openMemory(storage, agentId)'),
    };
    const media = [{ kind: 'image' as const, data: new Uint8Array([1]) }];
    await expect(memory.ingestUserMessage({ media }, 'turn_0001')).rejects.toMatchObject(refused);
    await expect(memory.facts.remember('Likes tea.')).rejects.toMatchObject(refused);
    await expect(store.addEpisodic(BUNDLE.episodic)).rejects.toMatchObject(refused);
    const fact = { id: 'sem_1', ts: 1, fact: 'Likes tea.', salience: 0 };
    await expect(store.addSemantic([fact])).rejects.toMatchObject(refused);
    await expect(store.addEpisodicMark({ mark: 'purge' })).rejects.toMatchObject(refused);
    await memory.close();
    expect(await fs.readdir(folder)).toStrictEqual([]);
  });
});
