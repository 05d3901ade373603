import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/core/clock.js';
import type { JsonObject } from '../../src/core/json.js';
import { NodeFileSystem } from '../../src/storage/file/node-file-system.js';
import { FaultyFileSystem } from '../../src/storage/simulated/faulty-file-system.js';
import {
  AGENT,
  answer,
  ask,
  call,
  contextText,
  type FilePlace,
  filePlace,
  openAgent,
  PLACES,
  sketchOf,
  talk,
} from './memory-kit.js';

const rowsOf = async (place: FilePlace) =>
  (await place.lines('raw_traces.jsonl')).map((line) => JSON.parse(line) as JsonObject);

async function faultyAgent() {
  const place = await filePlace();
  const disk = new FaultyFileSystem(new NodeFileSystem());
  const opened = await openAgent(place, { storage: place.storage({ fileSystem: disk }), system: 'Be kind.' });
  return { place, disk, ...opened };
}

const traceWrites = (kind: 'ENOSPC' | 'EIO') =>
  ({
    at: 1,
    kind,
    only: (name: string, path: string) => name === 'file.write' && path.includes('raw_traces'),
  }) as const;

describe.each(PLACES)('what is taken in over $name', ({ make }) => {
  it('is in the context when the call resolves, and in the context of the next process', async () => {
    const place = await make();
    const { memory } = await openAgent(place, { system: 'Be kind.' });
    const turnId = memory.startTurn();
    await memory.ingestUserMessage('Go', turnId);
    await memory.ingestAssistantResponse({ content: 'Two.', toolCalls: [call('a'), call('b')] }, turnId);
    await memory.ingestToolResults([answer('b'), answer('a')], turnId);
    await memory.ingestAssistantResponse({ content: 'Done.' }, turnId);
    expect(sketchOf(memory)).toStrictEqual([
      'system: Be kind.',
      'user: Go',
      'assistant calls a b: Two.',
      'tool a = "result of a"',
      'tool b = "result of b"',
      'assistant: Done.',
    ]);
    expect(contextText((await openAgent(place)).memory)).toBe(contextText(memory));
  });

  it('is durable at each step of a turn, not only at its end', async () => {
    const place = await make();
    const { memory } = await openAgent(place, { system: 'Be kind.' });
    const turnId = memory.startTurn();
    const lastLine = async () => sketchOf((await openAgent(place, { readOnly: true })).memory).at(-1);
    await memory.ingestUserMessage('Go', turnId);
    expect(await lastLine()).toBe('user: Go');
    await memory.ingestToolIntents([call('a')], turnId, 'm1');
    expect(await lastLine()).toMatch(/^synthetic tool a = error Interrupted/);
    await memory.ingestToolResults([answer('a')], turnId);
    expect(await lastLine()).toBe('tool a = "result of a"');
    await memory.ingestAssistantResponse({ content: 'Done.' }, turnId);
    expect(await lastLine()).toBe('assistant: Done.');
  });

  it('makes one message of calls that come one by one under one id', async () => {
    const { memory } = await openAgent(await make());
    const turnId = memory.startTurn();
    await memory.ingestUserMessage('Go', turnId);
    await memory.ingestToolIntents([call('a')], turnId, 'm1');
    await memory.ingestToolResults([answer('a')], turnId);
    await memory.ingestToolIntents([call('b')], turnId, 'm1');
    await memory.ingestAssistantResponse({ content: 'Both.', messageId: 'm1', final: false }, turnId);
    await memory.ingestToolResults([answer('b')], turnId);
    expect(sketchOf(memory)).toStrictEqual([
      'user: Go',
      'assistant calls a b: Both.',
      'tool a = "result of a"',
      'tool b = "result of b"',
    ]);
  });

  it('keeps its order when the calls overlap', async () => {
    const place = await make();
    const { memory } = await openAgent(place);
    const turnId = memory.startTurn();
    const ingests = Array.from({ length: 30 }, (_, n) => memory.ingestUserMessage(`${n}`, turnId));
    await Promise.all(ingests);
    expect(sketchOf(memory)).toStrictEqual(Array.from({ length: 30 }, (_, n) => `user: ${n}`));
    expect(contextText((await openAgent(place)).memory)).toBe(contextText(memory));
  });

  it('turns media bytes into artifacts, once for equal bytes', async () => {
    const place = await make();
    const { memory, storage } = await openAgent(place);
    const bytes = new Uint8Array([137, 80, 78, 71]);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const turnId = memory.startTurn();
    const media = [
      { kind: 'image' as const, mime: 'image/png', data: bytes },
      { kind: 'image' as const, data: 'https://example.com/a.png' },
    ];
    await memory.ingestUserMessage({ text: 'See', media }, turnId);
    await memory.ingestUserMessage({ media: [media[0]!] }, turnId);
    expect(memory.getWorkingContextMessages()[0]).toStrictEqual({
      role: 'user',
      content: null,
      turnId,
      parts: [
        { type: 'text', text: 'See' },
        { type: 'media', media: { kind: 'image', mime: 'image/png', ref: `sha256:${digest}`, bytes: 4 } },
        { type: 'media', media: { kind: 'image', ref: 'https://example.com/a.png' } },
      ],
    });
    expect([...(await memory.getArtifact(`sha256:${digest}`))!]).toStrictEqual([...bytes]);
    expect(await memory.getArtifact(`sha256:${'0'.repeat(64)}`)).toBeNull();
    expect(await memory.getArtifact('https://example.com/a.png')).toBeNull();
    let stored = 0;
    for await (const _ of storage.blobs(['agents', AGENT, 'artifacts']).list()) stored += 1;
    expect(stored).toBe(1);
  });

  it('keeps the marks of the user and the provenance of answers', async () => {
    const place = await make();
    const { memory } = await openAgent(place);
    const turnId = memory.startTurn();
    await memory.ingestUserMessage({ text: 'Never delete files.', pinned: true, messageId: 'u1' }, turnId);
    const origin = { provider: 'anthropic', model: 'model-a' };
    await memory.ingestAssistantResponse(
      {
        content: 'Understood.',
        reasoningContent: 'A rule.',
        reasoning: [{ text: 'A rule.', signature: 'c2ln', origin }],
        providerItems: [{ origin, item: { opaque: [1, 2] } }],
        origin,
        status: 'aborted',
        messageId: 'm1',
      },
      turnId,
    );
    const { memory: restored } = await openAgent(place);
    expect(restored.getWorkingContextMessages()).toStrictEqual([
      { role: 'user', content: 'Never delete files.', pinned: true, messageId: 'u1', turnId },
      {
        role: 'assistant',
        content: 'Understood.',
        reasoningContent: 'A rule.',
        reasoning: [{ text: 'A rule.', signature: 'c2ln', origin }],
        providerItems: [{ origin, item: { opaque: [1, 2] } }],
        origin,
        status: 'aborted',
        messageId: 'm1',
        turnId,
      },
    ]);
  });

  it('holds values that are no JSON as JSON, live as after a restore', async () => {
    const place = await make();
    const { memory } = await openAgent(place);
    const turnId = await ask(memory, 'Go \ud800', 'a');
    await memory.ingestToolResults([answer('a', new Map([['n', 1n]]))], turnId);
    expect(sketchOf(memory)).toStrictEqual(['user: Go \ufffd', 'assistant calls a', 'tool a = {"n":"1"}']);
    expect(contextText((await openAgent(place)).memory)).toBe(contextText(memory));
  });

  it('puts a late result to the call of its turn and tells of one without a place', async () => {
    const { memory } = await openAgent(await make());
    const ignored: unknown[] = [];
    memory.events.on('result_ignored', (event) => ignored.push(event));
    const first = await ask(memory, '1', 'a');
    const second = await ask(memory, '2', 'a');
    await memory.ingestToolResults([{ ...answer('a', 'late'), turnId: first }, answer('a', 'own')], second);
    await memory.ingestToolResults([answer('a', 'again'), answer('z')], second);
    expect(sketchOf(memory)).toStrictEqual([
      'user: 1',
      'assistant calls a',
      'tool a = "late"',
      'user: 2',
      'assistant calls a',
      'tool a = "own"',
    ]);
    expect(ignored).toStrictEqual([
      { callId: 'a', placement: 'duplicate' },
      { callId: 'z', placement: 'orphan' },
    ]);
  });
});

describe.each(PLACES)('what is refused over $name', ({ make }) => {
  it.each([
    ['a blank user message', { text: ' \n' }],
    ['a user message without anything', {}],
  ])('is %s, and nothing is written', async (_, input) => {
    const { memory } = await openAgent(await make());
    await expect(memory.ingestUserMessage(input, memory.startTurn())).rejects.toMatchObject({
      code: 'MESSAGE_INVALID',
      details: { field: 'text' },
    });
    expect((await (await memory.store.journal('raw_traces')).head()).seq).toBe(0);
  });

  it.each([
    ['a call without an id', [{ ...call('a'), id: '' }]],
    ['a call without a name', [{ ...call('a'), name: '' }]],
    ['two calls of one id in one response', [call('a'), call('a')]],
  ])('is %s', async (_, toolCalls) => {
    const { memory } = await openAgent(await make());
    const turnId = memory.startTurn();
    const expected = { code: 'MESSAGE_INVALID', details: { field: 'toolCalls' } };
    await expect(memory.ingestAssistantResponse({ content: null, toolCalls }, turnId)).rejects.toMatchObject(
      expected,
    );
    await expect(memory.ingestToolIntents(toolCalls, turnId)).rejects.toMatchObject(expected);
    expect(memory.getWorkingContextMessages()).toStrictEqual([]);
  });
});

describe('the order of writing', () => {
  it('has the traces on disk before the context shows them', async () => {
    const { memory, place } = await faultyAgent();
    const turnId = memory.startTurn();
    const ingest = memory.ingestUserMessage('Go', turnId);
    expect(sketchOf(memory)).toStrictEqual(['system: Be kind.']);
    await ingest;
    expect((await rowsOf(place)).at(-1)).toMatchObject({ trace_type: 'user', content: 'Go' });
    expect(sketchOf(memory)).toStrictEqual(['system: Be kind.', 'user: Go']);
  });

  it('puts an answer and its calls into one commit, the answer first', async () => {
    const { memory, place, disk } = await faultyAgent();
    const turnId = await ask(memory, 'Go');
    const before = disk.calls;
    let writes = 0;
    disk.setFault({
      at: Number.POSITIVE_INFINITY,
      kind: 'EIO',
      only: (name) => {
        if (name === 'file.write') writes += 1;
        return false;
      },
    });
    await memory.ingestAssistantResponse({ content: 'Two.', toolCalls: [call('a'), call('b')] }, turnId);
    expect(disk.calls).toBeGreaterThan(before);
    expect(writes).toBe(1);
    expect((await rowsOf(place)).slice(-3).map((row) => row['trace_type'])).toStrictEqual([
      'assistant',
      'tool_call',
      'tool_call',
    ]);
  });

  it.each(['ENOSPC', 'EIO'] as const)(
    'leaves the context as it was when an append fails with %s',
    async (kind) => {
      const { memory, place, disk } = await faultyAgent();
      const turnId = await ask(memory, 'Go', 'a');
      const before = contextText(memory);
      disk.setFault(traceWrites(kind));
      const code = kind === 'ENOSPC' ? 'STORAGE_FULL' : 'STORAGE_FAILED';
      await expect(memory.ingestToolResults([answer('a')], turnId)).rejects.toMatchObject({ code });
      expect(contextText(memory)).toBe(before);
      expect(memory.openCalls()).toMatchObject([{ call: { id: 'a' } }]);
      disk.setFault(null);
      await memory.ingestToolResults([answer('a')], turnId);
      expect(sketchOf(memory).at(-1)).toBe('tool a = "result of a"');
      expect(contextText((await openAgent(place)).memory)).toBe(contextText(memory));
    },
  );

  it('puts what a restore left to write before the first new trace', async () => {
    const place = await filePlace();
    const first = await openAgent(place, { system: 'A' });
    await talk(first.memory, '1', '2');
    const second = await openAgent(place, { system: 'B' });
    const count = (await place.lines('raw_traces.jsonl')).length;
    await Promise.all([
      second.memory.ingestUserMessage('x', 'turn_0002'),
      second.memory.ingestUserMessage('y', 'turn_0002'),
    ]);
    const { memory } = await openAgent(place, { readOnly: true });
    expect(sketchOf(memory)).toStrictEqual(['system: B', 'user: 1', 'assistant: 2', 'user: x', 'user: y']);
    expect(count).toBe(4);
  });
});

describe('a save of the cache', () => {
  it('happens at the end of a turn, tells its bytes, and only adds what is new', async () => {
    const { memory } = await openAgent(await filePlace());
    const saves: { bytesWritten: number; whole: boolean }[] = [];
    memory.events.on('snapshot_saved', (saved) => saves.push(saved));
    for (let turn = 0; turn < 5; turn += 1) await talk(memory, `question ${turn}`, `answer ${turn}`);
    expect(saves.map(({ whole }) => whole)).toStrictEqual([true, false, false, false, false]);
    const sizes = saves.slice(1).map(({ bytesWritten }) => bytesWritten);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(20);
  });

  it('that fails is an event, and the turn succeeds', async () => {
    const { memory, place, disk } = await faultyAgent();
    const failures: string[] = [];
    memory.events.on('snapshot_failed', ({ error }) => failures.push(error.code));
    disk.setFault({
      at: 1,
      kind: 'ENOSPC',
      sticky: true,
      only: (name, path) => name === 'file.write' && !path.includes('raw_traces'),
    });
    await talk(memory, '1', '2');
    expect(failures).toStrictEqual(['STORAGE_FULL']);
    disk.setFault(null);
    await talk(memory, '3', '4');
    const next = await openAgent(place);
    expect(next.report.source).toBe('cache');
    expect(contextText(next.memory)).toBe(contextText(memory));
  });

  it('does not happen once another process has taken the agent over', async () => {
    const place = await filePlace();
    const first = await openAgent(place, { system: 'A' });
    await talk(first.memory, '1', '2');
    const second = await openAgent(place);
    await talk(second.memory, '3', '4');
    await new Promise((resolve) => setTimeout(resolve, 150)); // past the age at which the last look at the lease counts
    const cache = await place.text('working_context_snapshot.json');
    const failures: string[] = [];
    first.memory.events.on('snapshot_failed', ({ error }) => failures.push(error.code));
    await first.memory.persistWorkingContextSnapshot();
    expect(failures).toStrictEqual(['LEASE_LOST']);
    await expect(talk(first.memory, 'zombie', 'zombie')).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await place.text('working_context_snapshot.json')).toBe(cache);
    expect(sketchOf(second.memory)).not.toContain('user: zombie');
  });
});

describe.each(PLACES)('turns and ids over $name', ({ make }) => {
  it('go on after a restore and are never used again', async () => {
    const place = await make();
    const first = await openAgent(place);
    expect(await talk(first.memory, '1', '1')).toBe('turn_0001');
    expect(await talk(first.memory, '2', '2')).toBe('turn_0002');
    const second = await openAgent(place);
    expect(second.memory.lastTurn).toBe(2);
    expect(await talk(second.memory, '3', '3')).toBe('turn_0003');
    const messageIds = second.memory.getWorkingContextMessages().flatMap(({ messageId }) => messageId ?? []);
    expect(new Set(messageIds).size).toBe(3);
  });

  it('number the traces of a turn from 1, also across a restore', async () => {
    const place = await make();
    const first = await openAgent(place);
    const turnId = await ask(first.memory, 'Go', 'a');
    await first.memory.ingestToolResults([answer('a')], turnId);
    const second = await openAgent(place);
    await second.memory.ingestAssistantResponse({ content: 'Done.' }, turnId);
    const seqs = (await second.memory.getRawTail(1)).map(({ seq }) => seq);
    expect(seqs).toStrictEqual([1, 2, 3, 4]);
  });

  it('differ for traces of one millisecond', async () => {
    const place = await make();
    const { memory } = await openAgent(place, { memory: { clock: new ManualClock() } });
    await Promise.all(['x', 'y', 'z'].map((text) => memory.ingestUserMessage(text, memory.startTurn())));
    const ids = (await memory.getRawTail(9)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });
});

describe.each(PLACES)('the raw tail over $name', ({ make }) => {
  it('is the traces of the last turns, oldest first, without the turn that is left out', async () => {
    const { memory } = await openAgent(await make(), { system: 'A' });
    for (const turn of [1, 2, 3]) await talk(memory, `q${turn}`, `a${turn}`);
    const texts = async (...args: Parameters<typeof memory.getRawTail>) =>
      (await memory.getRawTail(...args)).map((trace) => 'message' in trace && trace.message.content);
    expect(await texts(2)).toStrictEqual(['q2', 'a2', 'q3', 'a3']);
    expect(await texts(1, 'turn_0003')).toStrictEqual(['q2', 'a2']);
    expect(await texts(99)).toHaveLength(6);
    expect(await texts(0)).toStrictEqual([]);
  });
});

describe.each(PLACES)('a context that the host sets over $name', ({ make }) => {
  it('is a new epoch, and survives', async () => {
    const place = await make();
    const clock = new ManualClock(1_700_000_000_500);
    const { memory } = await openAgent(place, { system: 'A', memory: { clock } });
    await talk(memory, '1', '2');
    await memory.resetWorkingContextSnapshot([
      { role: 'system', content: 'A' },
      { role: 'user', content: 'Only this.' },
    ]);
    expect(memory).toMatchObject({ epochId: 2, lastCompactionTs: 1_700_000_000.5 });
    const next = await openAgent(place);
    expect(next.report).toMatchObject({ source: 'cache', tracesReplayed: 0 });
    expect(next.memory).toMatchObject({ epochId: 2, lastCompactionTs: 1_700_000_000.5, lastTurn: 1 });
    expect(sketchOf(next.memory)).toStrictEqual(['system: A', 'user: Only this.']);
  });
});

describe('closing', () => {
  it('waits for what is under way', async () => {
    const place = await filePlace();
    const { memory, close } = await openAgent(place, { system: 'A' });
    const turn = talk(memory, '1', '2');
    await turn;
    const save = memory.persistWorkingContextSnapshot();
    await close();
    expect(await save).not.toBeNull();
    const { report, memory: next } = await openAgent(place);
    expect(report.source).toBe('cache');
    expect(contextText(next)).toBe(contextText(memory));
  });
});
