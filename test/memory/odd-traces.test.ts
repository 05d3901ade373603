/** What a host sends twice, in parts, or under an id that is taken: nothing that was said gets lost, and the list stays legal. */
import { describe, expect, it } from 'vitest';
import type { Trace } from '../../src/memory/models/trace.js';
import { applyTrace, emptyMemoryState, type MemoryState } from '../../src/memory/working-context-reducer.js';
import { checkHistory } from '../../src/messages/legality/history.js';
import type { RepairCode } from '../../src/messages/legality/repairs.js';
import { type Message, type ToolCallSpec, toolCallsOf, toolResultOf } from '../../src/messages/message.js';

const HEAD = { id: 'rt_1', ts: 0, turnId: 'turn_0001', seq: 1, sourceEvent: 'Test' };

function user(content: string): Trace {
  return { ...HEAD, type: 'user', message: { role: 'user', content, turnId: HEAD.turnId } };
}

function answer(said: Partial<Message>): Trace {
  return {
    ...HEAD,
    type: 'assistant',
    message: { role: 'assistant', content: null, turnId: HEAD.turnId, ...said },
  };
}

function call(id: string, argument: number, messageId?: string): Trace {
  const spec: ToolCallSpec = { id, name: 'read', arguments: { n: argument } };
  return { ...HEAD, type: 'tool_call', call: spec, ...(messageId === undefined ? {} : { messageId }) };
}

function result(toolCallId: string, toolResult: string, turnId = HEAD.turnId): Trace {
  const payload = { toolCallId, toolName: 'read', toolResult, toolError: null };
  return { ...HEAD, turnId, type: 'tool_result', result: payload };
}

function played(...traces: Trace[]): { state: MemoryState; list: readonly Message[]; codes: RepairCode[] } {
  const state = emptyMemoryState();
  const codes: RepairCode[] = [];
  for (const trace of [user('Hello'), ...traces]) applyTrace(state, trace, (code) => codes.push(code));
  return { state, list: state.snapshot.messages.slice(1), codes };
}

describe.each([
  ['with a response id', 'm1'],
  ['without a response id', undefined],
])('a call %s', (_, messageId) => {
  it('that is sent again is there once, and that is told', () => {
    const { list, codes } = played(call('c1', 1, messageId), call('c1', 1, messageId), result('c1', 'out'));
    expect(list.map((message) => toolCallsOf(message).map(({ id }) => id))).toStrictEqual([['c1'], []]);
    expect(codes).toStrictEqual(['drop-replayed-duplicate']);
    expect(checkHistory(list)).toMatchObject([{ rule: 'H3' }]);
  });

  it('with the id of another call of its response gets a message of its own, and both get their results', () => {
    const { state } = played(
      call('c1', 1, messageId),
      call('c1', 2, messageId),
      result('c1', 'a'),
      result('c1', 'b'),
    );
    expect(checkHistory(state.snapshot.messages)).toStrictEqual([]);
    expect(state.snapshot.openCalls()).toStrictEqual([]);
    expect(state.snapshot.messages.flatMap(toolCallsOf).map((spec) => spec.arguments)).toStrictEqual([
      { n: 1 },
      { n: 2 },
    ]);
  });
});

describe('a response that is told in parts', () => {
  it('keeps its text when a later part has only reasoning', () => {
    const { list } = played(
      answer({ content: 'I look.', messageId: 'm1' }),
      call('c1', 1, 'm1'),
      answer({ reasoningContent: 'Because.', messageId: 'm1' }),
    );
    expect(list).toMatchObject([{ content: 'I look.', reasoningContent: 'Because.' }]);
    expect(toolCallsOf(list[0]!)).toHaveLength(1);
  });

  it('keeps its reasoning when a later part has only text', () => {
    const reasoning = [{ text: 'Because.', signature: 'sig' }];
    const { list } = played(
      call('c1', 1, 'm1'),
      answer({ reasoning, messageId: 'm1' }),
      answer({ content: 'I look.', messageId: 'm1' }),
    );
    expect(list).toMatchObject([{ content: 'I look.', reasoning }]);
  });

  it('has its newer text where it is told again, in whichever form', () => {
    const parts = [{ type: 'text' as const, text: 'old' }];
    const { list } = played(
      call('c1', 1, 'm1'),
      answer({ parts, status: 'aborted', messageId: 'm1' }),
      answer({ content: 'new', messageId: 'm1' }),
    );
    expect(list).toHaveLength(1);
    expect(list[0]).toMatchObject({ content: 'new' });
    expect(list[0]).not.toHaveProperty('parts');
    expect(list[0]).not.toHaveProperty('status');
  });
});

it('gives a result to the same call before and after a restore when an older response got its id later', () => {
  const calls = [call('c1', 1, 'm1'), call('c2', 2, 'm2'), call('c2', 3, 'm1')];
  const { state } = played(...calls);
  const restored = emptyMemoryState();
  restored.snapshot.replaceAll(state.snapshot.messages);
  for (const each of [state, restored]) applyTrace(each, result('c2', 'out', 'turn_0002'));
  expect(restored.snapshot.messages).toStrictEqual(state.snapshot.messages);
  expect(state.snapshot.messages.some((message) => toolResultOf(message)?.toolResult === 'out')).toBe(true);
});
