import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { checkHistory, repairHistory } from '../../src/messages/legality/history.js';
import { messageFromJson, messageToJson } from '../../src/messages/message-serializer.js';
import { runParameters } from '../property/seed.js';
import { message } from './arbitraries.js';

const throughText = (json: JsonObject) => JSON.parse(JSON.stringify(json)) as JsonObject;

describe('a message', () => {
  it('survives its stored form, whatever fields it has', () => {
    fc.assert(
      fc.property(message, (given) => {
        // not by vitest: it takes an own key `constructor` for the type
        deepStrictEqual(messageFromJson(throughText(messageToJson(given))), given);
      }),
      runParameters('message-serializer', 1_000),
    );
  });

  it('has one stored form: storing what was read gives the same text', () => {
    fc.assert(
      fc.property(message, (given) => {
        const json = throughText(messageToJson(given));
        expect(JSON.stringify(messageToJson(messageFromJson(json)))).toBe(JSON.stringify(json));
      }),
      runParameters('message-serializer, one form', 500),
    );
  });

  it('has no medium whose type or name is no text, or whose sizes are no numbers: what shows it would fail', () => {
    for (const odd of [
      { mime: 600 },
      { name: ['a'] },
      { mime: null },
      { width: '8' },
      { height: [8] },
      { bytes: {} },
    ]) {
      const media = { kind: 'image', ref: 'https://example.com/a.png', ...odd };
      const read = messageFromJson({
        role: 'user',
        parts: [
          { type: 'text', text: 'See' },
          { type: 'media', media },
        ],
      });
      expect(read).toMatchObject({ content: 'See', extra: { parts: [{ text: 'See' }, { media }] } });
      expect(read.parts).toBeUndefined();
    }
  });

  it('is written with the role first and without what is empty', () => {
    expect(JSON.stringify(messageToJson({ role: 'user', content: 'Hi' }))).toBe(
      '{"role":"user","content":"Hi"}',
    );
    expect(JSON.stringify(messageToJson({ role: 'assistant', content: null }))).toBe('{"role":"assistant"}');
  });

  it('keeps the text of arguments and large integers that `arguments` cannot hold', () => {
    const json = {
      role: 'assistant',
      tool_payload: {
        tool_calls: [{ id: 'c', name: 'pay', arguments: {}, arguments_text: '{"cents": 9007199254740993}' }],
      },
    };
    expect(messageToJson(messageFromJson(json))).toStrictEqual(json);
  });
});

describe('the full form of the original project', () => {
  const full = {
    reasoning_content: null,
    image_urls: [],
    audio_urls: [],
    video_urls: [],
    tool_payload: null,
  };

  it('is read as the message without its empty fields', () => {
    expect(messageFromJson({ role: 'system', content: 'Be kind.', ...full })).toStrictEqual({
      role: 'system',
      content: 'Be kind.',
    });
  });

  it('gives its calls, with what it noted for one provider', () => {
    const context = { provider: 'p', items: [{ id: 'fc_1' }] };
    const read = messageFromJson({
      role: 'assistant',
      content: null,
      ...full,
      tool_payload: {
        tool_calls: [{ id: 'c1', name: 'ls', arguments: { d: 1 }, nativeToolCallContext: context }],
      },
    });
    expect(read.toolPayload).toStrictEqual({
      toolCalls: [{ id: 'c1', name: 'ls', arguments: { d: 1 }, extra: { nativeToolCallContext: context } }],
    });
  });

  it('gives results and errors of tools', () => {
    const payload = { tool_call_id: 'c1', tool_name: 'ls', tool_result: { files: 2 }, tool_error: null };
    expect(
      messageFromJson({ role: 'tool', content: null, ...full, tool_payload: payload }).toolPayload,
    ).toStrictEqual({
      toolCallId: 'c1',
      toolName: 'ls',
      toolResult: { files: 2 },
      toolError: null,
    });
    const failed = { ...payload, tool_result: null, tool_error: 'no such folder' };
    expect(
      messageFromJson({ role: 'tool', content: null, ...full, tool_payload: failed }).toolPayload,
    ).toMatchObject({
      toolResult: null,
      toolError: 'no such folder',
    });
  });
});

describe('the abbreviated form of the seed', () => {
  it.each<[JsonObject, unknown]>([
    [{ role: 'system' }, { role: 'system', content: null }],
    [
      { role: 'assistant', content: 'x', reasoning_content: 'y' },
      { role: 'assistant', content: 'x', reasoningContent: 'y' },
    ],
    [
      { role: 'assistant', tool_payload: { tool_calls: [{ id: 'c', name: 'n' }] } },
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'c', name: 'n', arguments: {} }] },
      },
    ],
    [
      { role: 'tool', tool_payload: { tool_call_id: 'c', tool_name: 'n' } },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c', toolName: 'n', toolResult: null, toolError: null },
      },
    ],
  ])('%j is read with the defaults', (json, expected) => {
    expect(messageFromJson(json)).toStrictEqual(expected);
  });
});

describe('fields that are not known', () => {
  it.each<JsonObject>([
    { role: 'user', content: 'a', vendor: { deep: [1] } },
    {
      role: 'user',
      content: 'a',
      kind: 'summary',
      status: 'queued',
      synthetic: 'yes',
      pinned: 1,
      origin: 'me',
    },
    JSON.parse('{"role":"user","content":"a","__proto__":{"pinned":true},"constructor":1}') as JsonObject,
    { role: 'tool', tool_payload: { tool_call_id: 'c', tool_name: 'n', tool_result: 1, cost: 3 } },
  ])('survive a round trip: %j', (json) => {
    const read = messageFromJson(json);
    expect(canonicalJson(messageToJson(read))).toBe(canonicalJson(json));
    expect(read.pinned).toBeUndefined();
    expect(read.kind).toBeUndefined();
  });
});

describe('parts that are not all known', () => {
  const odd = {
    role: 'user',
    parts: [{ type: 'text', text: 'Hi' }, { type: 'hologram', data: 1 }, { type: 'text' }],
  };

  it('are kept as they are, and their text stays in sight', () => {
    const read = messageFromJson(odd);
    expect(read).toStrictEqual({ role: 'user', content: 'Hi', extra: { parts: odd.parts } });
    expect(messageToJson(read)).toStrictEqual({ ...odd, content: 'Hi' });
    expect(messageFromJson(messageToJson(read))).toStrictEqual(read);
  });
});

describe('a payload in the wrong role', () => {
  it.each<JsonObject>([
    { role: 'user', content: 'x', tool_payload: { tool_calls: [{ id: 'c', name: 'n', arguments: {} }] } },
    { role: 'system', content: 'x', tool_payload: { tool_call_id: 'c', tool_name: 'n', tool_result: 1 } },
    { role: 'assistant', tool_payload: { tool_call_id: 'c', tool_name: 'n', tool_result: 1 } },
    { role: 'tool', tool_payload: { tool_calls: [{ id: 'c', name: 'n', arguments: {} }] } },
  ])('is kept, and repaired to a message of its own: %j', (json) => {
    const read = messageFromJson(json);
    expect(read.toolPayload).toBeDefined();
    expect(messageToJson(read)).toStrictEqual(json);
    expect(checkHistory([read]).map(({ rule }) => rule)).toContain('H1');
    expect(checkHistory(repairHistory([read]).messages)).toStrictEqual([]);
  });
});

describe('a field of the wrong shape', () => {
  const call = { id: 'c', name: 'n', arguments: {} };
  it.each<[string, JsonValue]>([
    ['message', null],
    ['message', 'text'],
    ['message', []],
    ['role', {}],
    ['role', { role: 'narrator', content: 'x' }],
    ['content', { role: 'user', content: ['x'] }],
    ['reasoning_content', { role: 'assistant', content: 'x', reasoning_content: {} }],
    ['image_urls', { role: 'user', content: 'x', image_urls: 'a.png' }],
    ['audio_urls', { role: 'user', content: 'x', audio_urls: [1] }],
    ['parts', { role: 'user', parts: ['x'] }],
    ['reasoning', { role: 'assistant', reasoning: 'x' }],
    ['provider_items', { role: 'assistant', provider_items: [null] }],
    ['message_id', { role: 'user', content: 'x', message_id: 7 }],
    ['turn_id', { role: 'user', content: 'x', turn_id: [] }],
    ['tool_payload', { role: 'tool', tool_payload: 'x' }],
    ['tool_call_id', { role: 'tool', tool_payload: {} }],
    ['tool_error', { role: 'tool', tool_payload: { tool_call_id: 'c', tool_error: {} } }],
    ['tool_calls', { role: 'assistant', tool_payload: { tool_calls: ['x'] } }],
    ['id', { role: 'assistant', tool_payload: { tool_calls: [{ ...call, id: 3 }] } }],
    ['name', { role: 'assistant', tool_payload: { tool_calls: [{ ...call, name: null }] } }],
    ['arguments_text', { role: 'assistant', tool_payload: { tool_calls: [{ ...call, arguments_text: 1 }] } }],
  ])('is refused with MESSAGE_INVALID that names `%s`: %j', (field, json) => {
    expect(() => messageFromJson(json)).toThrowError(
      expect.objectContaining({ code: 'MESSAGE_INVALID', details: expect.objectContaining({ field }) }),
    );
  });
});
