import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../src/core/json.js';
import {
  rekindleImporter as importer,
  neutralMessageFrom,
} from '../../../../src/messages/importers/rekindle/rekindle.js';
import { toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { messageToJson } from '../../../../src/messages/message-serializer.js';
import { hasShared, isRecognised, lines, readAll, sharedFiles } from '../read-all.js';

/** Each is one fault of a history, in the flat form. */
const CASES = new URL('../../../../fixtures/cases/', import.meta.url);

const call = { id: 'c1', name: 'read', arguments: { path: 'a.ts' } };
const flatCall = { role: 'assistant', content: null, tool_calls: [call] };
const flatResult = { role: 'tool', tool_call_id: 'c1', tool_name: 'read', tool_result: { size: 3 } };
const storedCall = { role: 'assistant', tool_payload: { tool_calls: [call] } };
const storedResult = {
  role: 'tool',
  tool_payload: { tool_call_id: 'c1', tool_name: 'read', tool_result: { size: 3 } },
};

const CALL = { role: 'assistant', content: null, toolPayload: { toolCalls: [call] } };
const RESULT = {
  role: 'tool',
  content: null,
  toolPayload: { toolCallId: 'c1', toolName: 'read', toolResult: { size: 3 }, toolError: null },
};

describe('the import of our own messages', () => {
  it.each([
    ['a snapshot', { schema_version: 1, agent_id: 'a', messages: [storedCall, storedResult] }],
    [
      'a snapshot of the later version',
      { schema_version: 3, agent_id: 'a', messages: [storedCall, storedResult] },
    ],
    ['a document of flat messages', { messages: [flatCall, flatResult] }],
    ['a list of flat messages', [flatCall, flatResult]],
    ['a list of stored messages', [storedCall, storedResult]],
    ['flat messages, one a line', lines(flatCall, flatResult)],
    ['a case', { id: '1', slug: 's', kind: 'history', expected: {}, messages: [flatCall, flatResult] }],
  ])('recognises %s and reads it', async (_, given) => {
    expect(await isRecognised(importer, given)).toBe(true);
    expect((await readAll(importer, given)).messages).toStrictEqual([CALL, RESULT]);
  });

  it('gives back what was stored', async () => {
    const stored = {
      role: 'assistant',
      content: 'Done.',
      reasoning: [{ text: 'Hm.', signature: 'c2ln', origin: { provider: 'anthropic', model: 'model-a' } }],
      origin: { provider: 'anthropic', model: 'model-a' },
      message_id: 'm1',
      turn_id: 't1',
      pinned: true,
      status: 'aborted',
      other: { kept: true },
    };
    expect(messageToJson(neutralMessageFrom(stored))).toStrictEqual(stored);
  });

  it('believes marks in a snapshot of ours', async () => {
    const messages = [{ role: 'user', content: 'So far.', kind: 'memory', pinned: true, synthetic: true }];
    const { messages: read, report } = await readAll(importer, {
      messages,
      agent_id: 'a',
      schema_version: 1,
    });
    expect(read.map(messageToJson)).toStrictEqual(messages);
    expect(report.approximated).toStrictEqual([]);
  });

  it.each([
    ['a bare list', (marked: object) => [marked, storedCall, storedResult]],
    ['lines', (marked: object) => lines(marked, storedCall, storedResult)],
    [
      'a document that is no snapshot',
      (marked: object) => ({ messages: [marked, storedCall, storedResult] }),
    ],
  ])('believes no marks in %s, and says so', async (_, given) => {
    const marked = { role: 'user', content: 'Obey.', kind: 'memory', pinned: true, synthetic: true };
    const { messages, report } = await readAll(importer, given(marked));
    expect(messageToJson(messages[0]!)).toStrictEqual({ role: 'user', content: 'Obey.' });
    expect(report.approximated.map(({ what }) => what.slice(0, 18))).toStrictEqual([
      'the mark `kind`, w',
      'the mark `pinned`,',
      'the mark `syntheti',
    ]);
  });

  it.each(['2', 4, 2])('does not take version %j for its own', async (version) => {
    const code = typeof version === 'number' ? 'UNSUPPORTED_VERSION' : 'TRANSCRIPT_INVALID';
    const given = { messages: [storedCall], agent_id: 'a', schema_version: version };
    await expect(readAll(importer, given)).rejects.toMatchObject({ code });
  });

  it('reads a signed block of reasoning with its origin', () => {
    const reasoning = { text: 'Hm.', signature: 'c2ln', provider: 'anthropic', model: 'model-a' };
    expect(neutralMessageFrom({ role: 'assistant', content: 'x', reasoning })).toStrictEqual({
      role: 'assistant',
      content: 'x',
      reasoning: [{ text: 'Hm.', signature: 'c2ln', origin: { provider: 'anthropic', model: 'model-a' } }],
    });
  });

  it('reads reasoning that is only text', () => {
    expect(neutralMessageFrom({ role: 'assistant', content: null, reasoning: 'Hm.' })).toStrictEqual({
      role: 'assistant',
      content: null,
      reasoning: [{ text: 'Hm.' }],
    });
  });

  it('keeps the order of reasoning and text in a list of parts', () => {
    const content = [
      { type: 'reasoning', text: 'first', signature: 'czE=' },
      { type: 'text', text: '' },
      { type: 'reasoning', text: 'second', signature: 'czI=' },
    ];
    expect(neutralMessageFrom({ role: 'assistant', content }).parts).toStrictEqual([
      { type: 'reasoning', reasoning: { text: 'first', signature: 'czE=' } },
      { type: 'text', text: '' },
      { type: 'reasoning', reasoning: { text: 'second', signature: 'czI=' } },
    ]);
  });

  it('keeps the text beside an empty list of parts', () => {
    expect(neutralMessageFrom({ role: 'user', content: 'x', parts: [] })).toStrictEqual({
      role: 'user',
      content: 'x',
    });
  });

  it('puts media behind the text', () => {
    const media = { kind: 'image', mime: 'image/png', ref: 'sha256:aa', bytes: 9, width: 2, height: 1 };
    expect(neutralMessageFrom({ role: 'user', content: 'Look.', media: [media] })).toStrictEqual({
      role: 'user',
      content: null,
      parts: [
        { type: 'text', text: 'Look.' },
        { type: 'media', media },
      ],
    });
  });

  it.each(['summary', 'memory'])('reads the kind %s as a summary, and keeps its epoch', (kind) => {
    expect(neutralMessageFrom({ role: 'user', content: 'So far.', kind, epoch: 2 })).toStrictEqual({
      role: 'user',
      content: 'So far.',
      kind: 'memory',
      extra: { epoch: 2 },
    });
  });

  it('keeps both when there are a result and an error', () => {
    const both = { ...flatResult, tool_error: 'failed' };
    expect(toolResultOf(neutralMessageFrom(both))).toMatchObject({
      toolResult: { size: 3 },
      toolError: 'failed',
    });
  });

  it.each(['{"a":', '[]', 3, null, [1]])('takes the arguments %j as they are', (given) => {
    const message = neutralMessageFrom({ ...flatCall, tool_calls: [{ ...call, arguments: given }] });
    expect(toolCallsOf(message)[0]?.arguments).toStrictEqual(given);
  });

  it('keeps a role that is none of ours, for the check to find', () => {
    expect(neutralMessageFrom({ role: 'observer', content: 'x' })).toStrictEqual({
      role: 'observer',
      content: 'x',
    });
  });

  it('keeps calls of a user, for the check to find', () => {
    expect(neutralMessageFrom({ role: 'user', content: 'x', tool_calls: [call] })).toStrictEqual({
      role: 'user',
      content: 'x',
      toolPayload: { toolCalls: [call] },
    });
  });

  it('reads numeric and missing ids as text, and says so', async () => {
    const given = [
      { ...flatCall, tool_calls: [{ ...call, id: 7 }, { name: 'x' }] },
      { ...flatResult, tool_call_id: 7 },
    ];
    const { messages, report } = await readAll(importer, given);
    expect(toolCallsOf(messages[0]!).map(({ id }) => id)).toStrictEqual(['7', '']);
    expect(toolResultOf(messages[1]!)?.toolCallId).toBe('7');
    expect(report.approximated).toMatchObject([{ what: 'an id that is not text', count: 2 }]);
  });

  it('accounts for members that are no messages', async () => {
    const { messages, report } = await readAll(importer, { messages: [flatCall, null, 'x'] });
    expect(messages).toHaveLength(1);
    expect(report).toMatchObject({
      records: 3,
      dropped: [{ what: 'a member that is not a message', count: 2 }],
    });
  });

  it.each<JsonValue>([
    { role: 5, content: { a: 1 }, reasoning: 4, media: 'x', tool_calls: 'x' },
    { role: 'assistant', tool_payload: 3, parts: 7, image_urls: [1], message_id: {} },
    { role: 'tool', tool_payload: { tool_calls: {} }, content: [null, 3, {}, { type: 'media' }] },
    { role: 'assistant', tool_calls: [null, 4, {}], reasoning: [null, 1, {}], turn_id: 5 },
    JSON.parse('{"role":"user","__proto__":{"polluted":1},"content":"x"}') as JsonObject,
    null,
  ])('reads %j without an exception', (json) => {
    expect(() => messageToJson(neutralMessageFrom(json))).not.toThrow();
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it.each([
    ['plain lists of role and content', [{ role: 'user', content: 'x' }]],
    [
      'OpenAI calls',
      [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'n', arguments: '{}' } }] }],
    ],
    ['OpenAI results', [{ role: 'tool', tool_call_id: 'c', content: 'x' }]],
    ['typed records', lines({ type: 'x', role: 'tool', tool_call_id: 'c', tool_result: 1 }, { type: 'y' })],
  ])('does not recognise %s', async (_, given) => {
    expect(await isRecognised(importer, given)).toBe(false);
  });

  const cases = readdirSync(CASES)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({ name, json: JSON.parse(readFileSync(new URL(name, CASES), 'utf8')) as JsonObject }))
    .filter(({ json }) => Array.isArray(json['messages']));

  it.each(cases)('reads every message of the case $name', async ({ json }) => {
    expect(await isRecognised(importer, json)).toBe(true);
    const given = json['messages'] as JsonObject[];
    const { messages, report } = await readAll(importer, json);
    expect(messages.map(({ role }) => role)).toStrictEqual(given.map(({ role }) => role));
    expect(messages.map((message) => toolCallsOf(message).map(({ id }) => id))).toStrictEqual(
      given.map(({ tool_calls: calls }) => ((calls ?? []) as JsonObject[]).map(({ id }) => id)),
    );
    expect(report.dropped).toStrictEqual([]);
  });

  it.skipIf(!hasShared('corpus/autobyteus'))('reads every real snapshot, and no other format', async () => {
    const recognised: string[] = [];
    for (const file of sharedFiles('corpus')) {
      if (!(await isRecognised(importer, file))) continue;
      recognised.push(file.name);
      expect((await readAll(importer, file)).messages.length, file.name).toBeGreaterThan(0);
    }
    expect(recognised).toHaveLength(7);
    expect(recognised.every((name) => name.endsWith('working_context_snapshot.json'))).toBe(true);
  });
});
