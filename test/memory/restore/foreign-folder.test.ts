/** Folders of other programs that are opened in place: every digit stays, and odd messages are read as an import reads them. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { importTranscript } from '../../../src/memory/importing/import-transcript.js';
import { SNAPSHOT_FILE } from '../../../src/memory/store/working-context-snapshot-store.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import { type Message, toolCallsOf, toolResultOf } from '../../../src/messages/message.js';
import { filePlace, memoryPlace, openAgent, sketchOf, talk } from '../memory-kit.js';
import { LegacyRows, legacyCall, legacyMessage, legacyResult, legacySnapshot } from './legacy.js';

const BIG = '9007199254740993';
const withDigits = (text: string) => text.replaceAll('"BIG"', BIG);
const numbersIn = (messages: readonly Message[]) =>
  messages.flatMap((message) => [
    ...toolCallsOf(message).map((call) => call.arguments),
    ...[toolResultOf(message)?.toolResult ?? []].flat(),
  ]);

async function inPlace(files: Record<string, string>) {
  const place = await filePlace();
  for (const [name, content] of Object.entries(files)) await place.put(name, content);
  return { place, ...(await openAgent(place)) };
}

/** The same snapshot, imported. */
async function imported(snapshot: string): Promise<string[]> {
  const place = memoryPlace();
  await importTranscript(place.storage(), 'agent-a', sourceOf(snapshot));
  return sketchOf((await openAgent(place)).memory);
}

describe('integers with more digits than a number holds', () => {
  const call = legacyMessage('assistant', null, {
    tool_calls: [{ id: 'a', name: 'tool_a', arguments: { id: 'BIG' } }],
  });
  const snapshot = withDigits(
    legacySnapshot([legacyMessage('user', 'go'), call, legacyResult('a', ['BIG'])]),
  );

  it('keep every digit in a snapshot, as an import has them', async () => {
    const { memory, place } = await inPlace({ [SNAPSHOT_FILE]: snapshot });
    expect(numbersIn(memory.getWorkingContextMessages())).toStrictEqual([{ id: BIG }, BIG]);
    expect(sketchOf(memory)).toStrictEqual(await imported(snapshot));
    await talk(memory, 'q', 'a');
    expect(numbersIn((await openAgent(place)).memory.getWorkingContextMessages())).toStrictEqual([
      { id: BIG },
      BIG,
    ]);
  });

  it('keep every digit in rows, also in their times', async () => {
    const rows = new LegacyRows().user('go').call('a').result('a', ['BIG']).answer('done').rows;
    const text = rows
      .map((row) => `${JSON.stringify({ ...row, ts: 'TIME', tool_args: { id: 'BIG' } })}\n`)
      .join('');
    const { memory, report } = await inPlace({
      'raw_traces.jsonl': withDigits(text).replaceAll('"TIME"', '1770900509509000001'),
    });
    expect(report.damage).toStrictEqual([]);
    expect(numbersIn(memory.getWorkingContextMessages())).toStrictEqual([{ id: BIG }, BIG]);
    expect(sketchOf(memory).at(-1)).toBe('assistant: done');
  });
});

describe('a snapshot with one odd message', () => {
  const odd: readonly (readonly [string, JsonObject])[] = [
    ['reasoning as text', { role: 'assistant', content: 'Hi.', reasoning: 'Hm.' }],
    ['the role developer', { role: 'developer', content: 'Be brief.' }],
    ['a list as content', { role: 'user', content: [{ type: 'text', text: 'Look.' }] }],
    ['a text that is a number', { role: 'user', content: 7 }],
    ['a numeric id of a message', { role: 'user', content: 'Hi.', message_id: 7 }],
  ];

  it.each(odd)('(%s) and no traces is read as an import reads it, and said', async (_, message) => {
    const snapshot = legacySnapshot([legacyMessage('user', 'go'), message, legacyMessage('assistant', 'ok')]);
    const { memory, report } = await inPlace({ [SNAPSHOT_FILE]: snapshot });
    expect(report).toMatchObject({ source: 'imported', cacheRefused: null });
    expect(report.unknown.join()).toContain('messages/1');
    expect(sketchOf(memory)).toStrictEqual(await imported(snapshot));
  });

  it('(numeric ids of a call and of its result) keeps them together', async () => {
    const call = { tool_calls: [{ id: 7, name: 'ls', arguments: {} }] };
    const result = { tool_call_id: 7, tool_name: 'ls', tool_result: 'out', tool_error: null };
    const list = [
      legacyMessage('user', 'go'),
      legacyMessage('assistant', null, call),
      legacyMessage('tool', null, result),
    ];
    const { memory, report } = await inPlace({ [SNAPSHOT_FILE]: legacySnapshot(list) });
    expect(sketchOf(memory)).toStrictEqual(['user: go', 'assistant calls 7', 'tool 7 = "out"']);
    expect(report.repairs).toStrictEqual([]);
  });

  it('(a member that is none) has the others, and says what is not there', async () => {
    const text = legacySnapshot([
      legacyMessage('user', 'go'),
      'NONE' as never,
      legacyCall('a'),
      legacyResult('a'),
    ]);
    const { memory, report } = await inPlace({ [SNAPSHOT_FILE]: text });
    expect(sketchOf(memory)).toHaveLength(3);
    expect(report.unknown).toStrictEqual([
      '1 members of the snapshot are no messages; they are not in the context (messages/1).',
    ]);
  });
});

it('a list that a memory message opens gets no other opening', async () => {
  const rows = new LegacyRows().user('q1').answer('a1').user('q2').answer('a2').rows;
  const late = { ...rows[3]!, turn_id: 'turn_0003', content: 'and more' };
  const text = [...rows, late].map((row) => `${JSON.stringify(row)}\n`).join('');
  const items = {
    id: 'ep_1',
    ts: 1,
    turn_ids: ['turn_0001', 'turn_0002'],
    summary: 'They talked.',
    salience: 0,
  };
  const place = await filePlace();
  await place.put('raw_traces.jsonl', text);
  await place.put('episodic.jsonl', `${JSON.stringify(items)}\n`);
  const { memory } = await openAgent(place, { restore: { rawTailTurns: 1 } });
  expect(sketchOf(memory)).toStrictEqual([
    'memory: [MEMORY:EPISODIC]\n1) They talked.',
    'assistant: and more',
  ]);
});
