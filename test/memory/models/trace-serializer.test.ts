import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { episodicFromJson, semanticFromJson } from '../../../src/memory/models/memory-items.js';
import type { Boundary, Trace } from '../../../src/memory/models/trace.js';
import { traceFromJson, traceToJson } from '../../../src/memory/models/trace-serializer.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import { jsonValue, message, toolCall } from '../../messages/arbitraries.js';
import { runParameters } from '../../property/seed.js';

const envelope = { id: 'rt_1', ts: 1.5, turnId: 'turn_0001', seq: 1, sourceEvent: 'test' };
const throughText = (trace: Trace) =>
  traceFromJson(JSON.parse(JSON.stringify(traceToJson(trace))) as JsonObject);

const boundary: fc.Arbitrary<Boundary> = fc.oneof(
  fc.record({ kind: fc.constant('system'), systemPrompt: fc.string() }, { noNullPrototype: true }),
  fc.record(
    {
      kind: fc.constant('base'),
      reason: fc.string(),
      messages: fc.array(message, { maxLength: 3 }),
      epochId: fc.nat(),
      lastCompactionTs: fc.option(fc.nat()),
      lastTurn: fc.nat(),
    },
    { noNullPrototype: true },
  ),
  fc.record(
    {
      kind: fc.constant('repair'),
      at: fc.nat(),
      deleteCount: fc.nat(),
      insert: fc.array(message, { maxLength: 2 }),
      codes: fc.array(fc.string()),
    },
    { noNullPrototype: true },
  ),
  fc.record({ kind: fc.constant('compaction_failed'), reason: fc.string() }, { noNullPrototype: true }),
) as fc.Arbitrary<Boundary>;

/** Traces that come back as they were; messages have a normal form of their own (see below). */
const trace: fc.Arbitrary<Trace> = fc.oneof(
  fc.tuple(toolCall, fc.option(fc.string())).map(
    ([call, messageId]): Trace => ({
      ...envelope,
      type: 'tool_call',
      call,
      ...(messageId === null ? {} : { messageId }),
    }),
  ),
  fc.tuple(jsonValue, fc.option(fc.string()), fc.boolean()).map(
    ([value, toolError, synthetic]): Trace => ({
      ...envelope,
      type: 'tool_result',
      result: { toolCallId: 'c', toolName: 'n', toolResult: toolError === null ? value : null, toolError },
      ...(synthetic ? { synthetic } : {}),
    }),
  ),
  boundary.map((given): Trace => ({ ...envelope, type: 'boundary', boundary: given })),
  fc.array(message, { maxLength: 3 }).map(
    (messages): Trace => ({
      ...envelope,
      type: 'compaction',
      epochId: 2,
      lastCompactionTs: 5.25,
      lastTurn: 3,
      messages,
      episodic: [{ id: 'ep_1', ts: 2, turnIds: ['turn_0001'], summary: 's', salience: 0 }],
      semantic: [{ id: 'sem_1', ts: 2, fact: 'f', category: 'durable_fact', confidence: 0.5, salience: 1 }],
    }),
  ),
);

describe('a trace', () => {
  it('survives its row, whatever its type', () => {
    fc.assert(
      fc.property(trace, (given) => {
        deepStrictEqual(throughText(given), given);
      }),
      runParameters('trace-serializer', 500),
    );
  });

  it('of a message has one normal form, which a second round trip does not change', () => {
    const said = message.filter(
      ({ role, toolPayload }) => role !== 'tool' && role !== 'system' && !toolPayload,
    );
    fc.assert(
      fc.property(said, (given) => {
        const type = given.role as 'user' | 'assistant';
        const { turnId, ...rest } = given;
        const once = throughText({ ...envelope, type, message: rest });
        deepStrictEqual(throughText(once), once);
        if (once.type !== type) throw new Error('another type');
        expect(messageToJson(once.message)).toMatchObject({ role: type, turn_id: 'turn_0001' });
      }),
      runParameters('trace-serializer, messages', 300),
    );
  });

  it('is written in the shape of the original project', () => {
    const row = traceToJson({ ...envelope, type: 'user', message: { role: 'user', content: 'Hi' } });
    expect(row).toStrictEqual({
      id: 'rt_1',
      ts: 1.5,
      turn_id: 'turn_0001',
      seq: 1,
      trace_type: 'user',
      source_event: 'test',
      content: 'Hi',
    });
  });
});

describe('a row of the original project', () => {
  const row = { id: 'rt_1', ts: 1.5, turn_id: 'turn_0001', seq: 2, content: '', source_event: 'x' };

  it('gives a call with its arguments', () => {
    expect(
      traceFromJson({
        ...row,
        trace_type: 'tool_call',
        tool_name: 'ls',
        tool_call_id: 'c1',
        tool_args: { d: 1 },
      }),
    ).toMatchObject({ type: 'tool_call', call: { id: 'c1', name: 'ls', arguments: { d: 1 } } });
  });

  it('gives a call without arguments an empty object', () => {
    expect(
      traceFromJson({ ...row, trace_type: 'tool_call', tool_name: 'ls', tool_call_id: 'c1' }),
    ).toMatchObject({
      call: { arguments: {} },
    });
  });

  it('gives a result without the arguments that it repeats', () => {
    const fields = { tool_name: 'ls', tool_call_id: 'c1', tool_args: { d: 1 }, tool_result: 'ok' };
    expect(traceFromJson({ ...row, trace_type: 'tool_result', ...fields })).toMatchObject({
      result: { toolCallId: 'c1', toolName: 'ls', toolResult: 'ok', toolError: null },
    });
  });

  it('gives a result without a value as null', () => {
    expect(
      traceFromJson({ ...row, trace_type: 'tool_result', tool_name: 'ls', tool_call_id: 'c1' }),
    ).toMatchObject({ result: { toolResult: null, toolError: null } });
  });

  it('of another type is kept whole', () => {
    const continuation = { ...row, trace_type: 'tool_continuation', content: 'x', future: [1] };
    const read = traceFromJson(continuation);
    expect(read).toMatchObject({ type: 'foreign', traceType: 'tool_continuation', row: continuation });
    expect(traceToJson(read)).toStrictEqual(continuation);
  });

  it('with a __proto__ key gives a message that has no field from it', () => {
    const text = '{"__proto__":{"pinned":true,"kind":"memory","message_id":"m"},"content":"Hi"}';
    const poison = { ...row, ...(JSON.parse(text) as JsonObject), trace_type: 'user' };
    const read = traceFromJson(poison);
    if (read.type !== 'user') throw new Error('not a user trace');
    expect(Object.keys(read.message)).not.toContain('pinned');
    expect(read.message.pinned).toBeUndefined();
    expect(read.message.kind).toBeUndefined();
    expect(read.message.messageId).toBeUndefined();
    expect(Object.keys(read.message.extra ?? {})).toStrictEqual(['__proto__']);
  });
});

describe('a row that is no trace', () => {
  const row = { id: 'rt_1', ts: 1, turn_id: 't', seq: 1, trace_type: 'user', content: 'x' };
  it.each<[string, JsonObject]>([
    ['no id', { ...row, id: null }],
    ['a text as its time', { ...row, ts: '1' }],
    ['no type', { ...row, trace_type: '' }],
    ['a message of the wrong shape', { ...row, content: ['x'] }],
    ['a call without an id', { ...row, trace_type: 'tool_call', tool_name: 'n' }],
    ['a compaction without an epoch', { ...row, trace_type: 'compaction', last_turn: 1 }],
    [
      'a base with messages that are no list',
      { ...row, trace_type: 'boundary', boundary: 'base', messages: {} },
    ],
  ])('is refused with MESSAGE_INVALID: %s', (_, given) => {
    expect(() => traceFromJson(given)).toThrowError(expect.objectContaining({ code: 'MESSAGE_INVALID' }));
  });
});

describe('memory items', () => {
  it('are read with defaults for what the original project leaves out', () => {
    expect(episodicFromJson({ summary: 's' })).toStrictEqual({
      id: '',
      ts: 0,
      turnIds: [],
      summary: 's',
      salience: 0,
    });
    expect(semanticFromJson({ fact: 'f', tags: ['x'] })).toStrictEqual({
      id: '',
      ts: 0,
      fact: 'f',
      salience: 0,
    });
  });

  it('without their text are refused with MESSAGE_INVALID', () => {
    for (const read of [
      () => episodicFromJson({}),
      () => semanticFromJson({ fact: 1 }),
      () => semanticFromJson(null),
    ])
      expect(read).toThrowError(expect.objectContaining({ code: 'MESSAGE_INVALID' }));
  });
});

it('a recall whose row has another kind is a recall, and has one kind', () => {
  const row: JsonObject = {
    ...{ id: 'rt_1', ts: 1, turn_id: 'turn_0001', seq: 1, source_event: 'Recall' },
    ...{ trace_type: 'recall', content: 'Earlier words.', kind: ['recall'] },
  };
  const trace = traceFromJson(row) as Extract<Trace, { type: 'recall' }>;
  expect(messageToJson(trace.message)).toStrictEqual({
    role: 'user',
    content: 'Earlier words.',
    kind: 'recall',
    turn_id: 'turn_0001',
  });
});
