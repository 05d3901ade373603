/** Which source a restore uses, and why it refuses the cache. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import { SNAPSHOT_FILE } from '../../../src/memory/store/working-context-snapshot-store.js';
import {
  answer,
  ask,
  contextText,
  type FilePlace,
  filePlace,
  openAgent,
  PLACES,
  sketchOf,
  talk,
} from '../memory-kit.js';

/** Two whole turns, one with a tool; the cache is current. */
async function converse(memory: MemoryManager): Promise<void> {
  await talk(memory, 'Hi', 'Hello');
  const turnId = await ask(memory, 'Go', 'a');
  await memory.ingestToolResults([answer('a')], turnId);
  await memory.ingestAssistantResponse({ content: 'Done.' }, turnId);
}

const LIST = [
  'system: Be kind.',
  'user: Hi',
  'assistant: Hello',
  'user: Go',
  'assistant calls a',
  'tool a = "result of a"',
  'assistant: Done.',
];

async function conversed(): Promise<{ place: FilePlace; text: string }> {
  const place = await filePlace();
  const { memory } = await openAgent(place, { system: 'Be kind.' });
  await converse(memory);
  return { place, text: contextText(memory) };
}

describe.each(PLACES)('a restore over $name', ({ make }) => {
  it('of a new agent gives an empty context and an idle frontier', async () => {
    const { memory, report } = await openAgent(await make());
    expect(memory.getWorkingContextMessages()).toStrictEqual([]);
    expect(report).toMatchObject({
      source: 'rebuilt',
      cacheRefused: { reason: 'missing' },
      messages: 0,
      epochId: 1,
      lastCompactionTs: null,
      tracesReplayed: 0,
      repairs: [],
      damage: [],
      interruptedCalls: [],
      unknown: [],
      frontier: { kind: 'idle', turnId: null, callIds: [] },
    });
  });

  it('uses the cache alone when it is current', async () => {
    const place = await make();
    const first = await openAgent(place, { system: 'Be kind.' });
    await converse(first.memory);
    const { memory, report } = await openAgent(place);
    expect(sketchOf(memory)).toStrictEqual(LIST);
    expect(report).toMatchObject({
      agentId: 'agent-a',
      source: 'cache',
      cacheRefused: null,
      messages: 7,
      tracesReplayed: 0,
      tracesIgnored: 0,
      repairs: [],
      damage: [],
      frontier: { kind: 'idle', turnId: 'turn_0002', callIds: [] },
      promptChanged: false,
      prefix: {
        savedFingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
        savedMessages: 7,
        firstDifference: null,
        tokensLost: 0,
      },
      dry: false,
      cacheWritable: true,
    });
    expect(Object.values(report.phasesMs).every((ms) => ms >= 0)).toBe(true);
  });

  it('uses the cache and the traces after it when it is older than they are', async () => {
    const place = await make();
    const first = await openAgent(place, { system: 'Be kind.' });
    await talk(first.memory, 'Hi', 'Hello');
    const turnId = await ask(first.memory, 'Go', 'a');
    await first.memory.ingestToolResults([answer('a')], turnId);
    const { memory, report } = await openAgent(place);
    expect(contextText(memory)).toBe(contextText(first.memory));
    expect(report).toMatchObject({
      source: 'cache+tail',
      cacheRefused: null,
      tracesReplayed: 3,
      frontier: { kind: 'awaiting_assistant', turnId },
      prefix: { savedMessages: 3, firstDifference: null },
    });
  });

  it('counts traces that have no place', async () => {
    const place = await make();
    const { memory } = await openAgent(place);
    const turnId = await ask(memory, 'Go', 'a');
    await memory.ingestToolResults([answer('a'), answer('a', 'again'), answer('z')], turnId);
    const { report } = await openAgent(place);
    expect(report).toMatchObject({ tracesReplayed: 5, tracesIgnored: 2 });
  });

  it('takes the current system prompt, and tells when it changed', async () => {
    const place = await make();
    const first = await openAgent(place, { system: 'A' });
    await talk(first.memory, 'Hi', 'Hello');
    const same = await openAgent(place, { system: 'A' });
    expect(same.report).toMatchObject({ promptChanged: false, prefix: { firstDifference: null } });
    await same.close();
    const second = await openAgent(place, { system: 'B' });
    expect(second.report).toMatchObject({
      promptChanged: true,
      prefix: { savedMessages: 3, firstDifference: 0, tokensLost: expect.any(Number) },
    });
    expect(sketchOf(second.memory)).toStrictEqual(['system: B', 'user: Hi', 'assistant: Hello']);
    await talk(second.memory, '1', '2');
    const third = await openAgent(place, { system: '' });
    expect(third.report).toMatchObject({ source: 'cache', promptChanged: true });
    expect(sketchOf(third.memory)).toStrictEqual(['user: Hi', 'assistant: Hello', 'user: 1', 'assistant: 2']);
  });

  it('writes a changed prompt only with the next turn', async () => {
    const place = await make();
    const first = await openAgent(place, { system: 'A' });
    await talk(first.memory, 'Hi', 'Hello');
    await openAgent(place, { system: 'B' });
    const { memory, report } = await openAgent(place);
    expect(sketchOf(memory)[0]).toBe('system: A');
    expect(report.source).toBe('cache');
  });
});

describe('the cache is refused', () => {
  async function expectRebuilt(place: FilePlace, text: string, reason: string): Promise<void> {
    const { memory, report, close } = await openAgent(place);
    expect(report).toMatchObject({
      source: 'rebuilt',
      cacheRefused: { reason },
      prefix: { savedFingerprint: null },
    });
    expect(report.cacheRefused!.detail).not.toBe('');
    expect(report.tracesReplayed).toBeGreaterThan(0);
    expect(contextText(memory)).toBe(text);
    await close();
  }

  it('when it is missing', async () => {
    const { place, text } = await conversed();
    await fs.rm(place.file(SNAPSHOT_FILE));
    await expectRebuilt(place, text, 'missing');
  });

  it.each([
    ['empty', () => Buffer.alloc(0)],
    ['cut', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
    ['full of zeros', (bytes: Buffer) => Buffer.alloc(bytes.length)],
    [
      'flipped in one bit',
      (bytes: Buffer) => {
        const flipped = Buffer.from(bytes);
        flipped[80]! ^= 4;
        return flipped;
      },
    ],
  ])('when it is damaged: %s', async (_, damage) => {
    const { place, text } = await conversed();
    await place.put(SNAPSHOT_FILE, damage(await fs.readFile(place.file(SNAPSHOT_FILE))));
    await expectRebuilt(place, text, 'damaged');
  });

  it('when it is of another agent, which is moved aside by the next save', async () => {
    const { place, text } = await conversed();
    const other = await filePlace('agent-b');
    const opened = await openAgent(other, { agentId: 'agent-b' });
    await talk(opened.memory, 'I am', 'another');
    await fs.copyFile(other.file(SNAPSHOT_FILE), place.file(SNAPSHOT_FILE));
    await expectRebuilt(place, text, 'foreign');
    const { memory } = await openAgent(place);
    await talk(memory, '1', '2');
    expect((await place.names()).filter((name) => name.includes('set-aside'))).toHaveLength(1);
    expect((await openAgent(place)).report.source).toBe('cache');
  });

  it('when a newer release wrote it; turns stay durable, and the file stays as it is', async () => {
    const { place, text } = await conversed();
    const newer = JSON.stringify({ schema_version: 9, agent_id: 'agent-a', messages: 'in a new form' });
    await place.put(SNAPSHOT_FILE, newer);
    await expectRebuilt(place, text, 'unsupported');
    const { memory, report } = await openAgent(place);
    expect(report.cacheWritable).toBe(false);
    const failures: string[] = [];
    memory.events.on('snapshot_failed', ({ error }) => failures.push(error.code));
    await talk(memory, '1', '2');
    expect(failures).toStrictEqual(['UNSUPPORTED_VERSION']);
    expect(await place.text(SNAPSHOT_FILE)).toBe(newer);
    expect(sketchOf((await openAgent(place)).memory).slice(-2)).toStrictEqual(['user: 1', 'assistant: 2']);
  });

  it('when a rebuild is asked for; the next save writes it anew', async () => {
    const { place, text } = await conversed();
    const { memory, report } = await openAgent(place, { restore: { ignoreCache: true } });
    expect(report).toMatchObject({ source: 'rebuilt', cacheRefused: { reason: 'ignored' } });
    expect(contextText(memory)).toBe(text);
    expect(await memory.persistWorkingContextSnapshot()).toMatchObject({ whole: true, setAside: null });
    expect((await openAgent(place)).report.source).toBe('cache');
  });

  it.each([
    ['of records as long as these', 8, (n: number) => `text ${n}`],
    ['of records as long and as many as these', 3, (n: number) => `text ${n}`],
    ['of longer records', 8, (n: number) => `a longer text that is not of the same length ${n}`],
    ['of shorter records', 8, () => ''],
  ])('when it was copied from another line of the same agent %s', async (_, ownTurns, words) => {
    const lineOf = async (text: (n: number) => string, turns: number) => {
      const place = await filePlace();
      const { memory } = await openAgent(place);
      for (let turn = 0; turn < turns; turn += 1) await talk(memory, `q${text(turn)}`, `a${text(turn)}`);
      return { place, memory };
    };
    const other = await lineOf(words, 3);
    const own = await lineOf((n) => `text ${n + 5}`, ownTurns);
    await fs.copyFile(other.place.file(SNAPSHOT_FILE), own.place.file(SNAPSHOT_FILE));
    await expectRebuilt(own.place, contextText(own.memory), 'diverged');
  });
});

describe('a journal that is shorter than the cache says', () => {
  it('has lost records: the cache is used, it is said, and the context lasts', async () => {
    const { place, text } = await conversed();
    const lines = await place.lines('raw_traces.jsonl');
    await place.put('raw_traces.jsonl', `${lines.slice(0, 3).join('\n')}\n`);
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({
      source: 'cache',
      cacheRefused: null,
      damage: [{ file: 'raw_traces.jsonl', reason: 'records-missing' }],
      unknown: [expect.stringMatching(/end at record 3.*covers 8/)],
    });
    expect(contextText(memory)).toBe(text);
    await memory.ingestUserMessage('next', memory.startTurn());
    const next = await openAgent(place);
    expect(contextText(next.memory)).toBe(contextText(memory));
    expect(next.report).toMatchObject({ damage: [], unknown: [] });
    await fs.rm(place.file(SNAPSHOT_FILE));
    expect(contextText((await openAgent(place)).memory)).toBe(contextText(memory));
  });

  it('is empty: the same', async () => {
    const { place, text } = await conversed();
    await fs.rm(place.file('raw_traces.jsonl'));
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({ source: 'cache', damage: [{ reason: 'records-missing' }] });
    expect(contextText(memory)).toBe(text);
  });
});

describe('a context that would be blank', () => {
  it('although traces exist is refused with CONTEXT_BLANK, and nothing is changed', async () => {
    const place = await filePlace();
    const damaged = 'not json at all\n{"broken": \n\u0000\u0000\n';
    await place.put('raw_traces.jsonl', damaged);
    await expect(openAgent(place)).rejects.toMatchObject({ code: 'CONTEXT_BLANK', details: { damage: 3 } });
    expect(await place.text('raw_traces.jsonl')).toBe(damaged);
  });

  it('of blank traces is refused with CONTEXT_BLANK', async () => {
    const place = await filePlace();
    const row = { id: 'rt_1', ts: 1, turn_id: 'turn_0001', seq: 1, trace_type: 'assistant', content: ' ' };
    await place.put('raw_traces.jsonl', `${JSON.stringify(row)}\n`);
    await expect(openAgent(place)).rejects.toMatchObject({ code: 'CONTEXT_BLANK', details: { traces: 1 } });
  });

  it.each([
    ['damaged', '{"schema_version":1,"agent_id":"agent-a","mess'],
    ['of a newer release', '{"schema_version":9,"agent_id":"agent-a"}'],
  ])(
    'because all that is left is a snapshot that is %s is refused with CONTEXT_BLANK',
    async (_, content) => {
      const place = await filePlace();
      await place.put(SNAPSHOT_FILE, content);
      await expect(openAgent(place)).rejects.toMatchObject({ code: 'CONTEXT_BLANK' });
      expect(await place.text(SNAPSHOT_FILE)).toBe(content);
      expect(await place.names()).toStrictEqual([SNAPSHOT_FILE]);
    },
  );

  it('of an agent that only has its system prompt is no fault, also when its cache is torn', async () => {
    const place = await filePlace();
    const { memory } = await openAgent(place);
    await memory.begin('Be kind.');
    await memory.persistWorkingContextSnapshot();
    await place.put(SNAPSHOT_FILE, '');
    const next = await openAgent(place);
    expect(sketchOf(next.memory)).toStrictEqual(['system: Be kind.']);
  });
});
