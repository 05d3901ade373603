import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkingContextSnapshot } from '../../src/memory/working-context-snapshot.js';
import type { Message } from '../../src/messages/message.js';
import { assistant, calls, result, syntheticResult, user } from '../messages/arbitraries.js';
import { checkPairing } from '../messages/legality/pairing-only.js';
import { runParameters } from '../property/seed.js';
import { sketch } from './memory-kit.js';

const inTurn = (turnId: string, message: Message): Message => ({ ...message, turnId });

describe('the working context', () => {
  it('starts in epoch 1, empty, without a compaction', () => {
    const snapshot = new WorkingContextSnapshot();
    expect(snapshot).toMatchObject({ epochId: 1, lastCompactionTs: null, length: 0, hasOpenCalls: false });
    expect(snapshot.buildMessages()).toStrictEqual([]);
  });

  it('takes messages in the short forms of the original project', () => {
    const snapshot = new WorkingContextSnapshot([{ role: 'system', content: 'Be kind.' }]);
    snapshot.appendUser('Hi');
    snapshot.appendAssistant('Hello', 'They greet.');
    snapshot.appendToolCalls([{ id: 'a', name: 'ls', arguments: {} }]);
    expect(snapshot.appendToolResult('a', 'ls', { files: 1 })).toBe('placed');
    snapshot.appendToolCalls([{ id: 'b', name: 'rm', arguments: {} }]);
    snapshot.appendToolResult('b', 'rm', 'ignored', 'denied');
    expect(snapshot.buildMessages()).toStrictEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello', reasoningContent: 'They greet.' },
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'a', name: 'ls', arguments: {} }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'a', toolName: 'ls', toolResult: { files: 1 }, toolError: null },
      },
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'b', name: 'rm', arguments: {} }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'b', toolName: 'rm', toolResult: null, toolError: 'denied' },
      },
    ]);
  });

  it('gives a copy of the list that does not change with it', () => {
    const snapshot = new WorkingContextSnapshot([user('1')]);
    const copy = snapshot.buildMessages();
    snapshot.appendUser('2');
    expect(copy).toStrictEqual([user('1')]);
  });

  it('starts a new epoch with a reset, and keeps the time of the last compaction unless told', () => {
    const snapshot = new WorkingContextSnapshot([user('1')]);
    snapshot.reset([user('2')], 1_700_000_000.5);
    expect(snapshot).toMatchObject({ epochId: 2, lastCompactionTs: 1_700_000_000.5 });
    snapshot.reset([user('3')]);
    expect(snapshot).toMatchObject({ epochId: 3, lastCompactionTs: 1_700_000_000.5 });
    snapshot.reset([], null);
    expect(snapshot).toMatchObject({ epochId: 4, lastCompactionTs: null, length: 0 });
  });
});

describe('a result', () => {
  it('goes into the block of its call, behind what came meanwhile or not', () => {
    const snapshot = new WorkingContextSnapshot([calls('a'), user('status?'), assistant('It runs.')]);
    expect(snapshot.placeToolResult(result('a'))).toBe('placed');
    expect(sketch(snapshot.messages)).toStrictEqual([
      'assistant calls a',
      'tool a = "result of a"',
      'user: status?',
      'assistant: It runs.',
    ]);
  });

  it('stands in call order, whatever the order of arrival', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(['a', 'b', 'c', 'd'], { minLength: 4 }), (order) => {
        const snapshot = new WorkingContextSnapshot([calls('a', 'b', 'c', 'd'), user('hm')]);
        for (const id of order) snapshot.placeToolResult(result(id));
        expect(snapshot.messages.slice(1, 5)).toStrictEqual(['a', 'b', 'c', 'd'].map((id) => result(id)));
        expect(checkPairing(snapshot.messages)).toStrictEqual([]);
      }),
      runParameters('working-context-snapshot', 50),
    );
  });

  it('answers the call of its own turn when an id was used again', () => {
    const snapshot = new WorkingContextSnapshot([
      inTurn('turn_0001', calls('a')),
      user('2'),
      inTurn('turn_0002', calls('a')),
    ]);
    snapshot.placeToolResult(inTurn('turn_0001', result('a', 'first')));
    snapshot.placeToolResult(inTurn('turn_0002', result('a', 'second')));
    expect(sketch(snapshot.messages)).toStrictEqual([
      'assistant calls a',
      'tool a = "first"',
      'user: 2',
      'assistant calls a',
      'tool a = "second"',
    ]);
  });

  it('answers the newest open call when its turn has none of its id', () => {
    const snapshot = new WorkingContextSnapshot([
      inTurn('turn_0001', calls('a')),
      inTurn('turn_0002', calls('a')),
    ]);
    snapshot.placeToolResult(inTurn('turn_0009', result('a', 'late')));
    expect(sketch(snapshot.messages)).toStrictEqual([
      'assistant calls a',
      'assistant calls a',
      'tool a = "late"',
    ]);
  });

  it('takes the place of a synthetic one', () => {
    const snapshot = new WorkingContextSnapshot([calls('a'), syntheticResult('a'), user('2')]);
    expect(snapshot.placeToolResult(result('a'))).toBe('replaced');
    expect(sketch(snapshot.messages)).toStrictEqual([
      'assistant calls a',
      'tool a = "result of a"',
      'user: 2',
    ]);
  });

  it('takes the place of the synthetic one of its own turn, also when the id was answered since', () => {
    const snapshot = new WorkingContextSnapshot([
      inTurn('turn_0001', calls('a')),
      inTurn('turn_0001', syntheticResult('a')),
      inTurn('turn_0002', calls('a')),
      inTurn('turn_0002', result('a', 2)),
    ]);
    expect(snapshot.placeToolResult(inTurn('turn_0001', result('a', 'late')))).toBe('replaced');
    expect(sketch(snapshot.messages)).toStrictEqual([
      'assistant calls a',
      'tool a = "late"',
      'assistant calls a',
      'tool a = 2',
    ]);
  });

  it('of an interrupted call does not answer the call of a later turn with the same id', () => {
    const snapshot = new WorkingContextSnapshot([
      inTurn('turn_0001', calls('a')),
      inTurn('turn_0001', syntheticResult('a')),
      inTurn('turn_0002', calls('a')),
    ]);
    expect(snapshot.placeToolResult(inTurn('turn_0001', result('a', 'late')))).toBe('replaced');
    expect(snapshot.openCalls()).toMatchObject([{ turnId: 'turn_0002' }]);
  });

  it('is refused as a second one, and as one without a call', () => {
    const snapshot = new WorkingContextSnapshot([calls('a'), result('a')]);
    expect(snapshot.placeToolResult(result('a', 'again'))).toBe('duplicate');
    expect(snapshot.placeToolResult(syntheticResult('a'))).toBe('duplicate');
    expect(snapshot.placeToolResult(result('z'))).toBe('orphan');
    expect(snapshot.messages).toStrictEqual([calls('a'), result('a')]);
  });
});

describe('open calls', () => {
  it('are told in list order, with their message and turn', () => {
    const snapshot = new WorkingContextSnapshot([
      inTurn('turn_0001', calls('a', 'b')),
      result('a'),
      inTurn('turn_0002', calls('a')),
    ]);
    expect(snapshot.openCalls()).toStrictEqual([
      { call: expect.objectContaining({ id: 'b' }), turnId: 'turn_0001', messageIndex: 0 },
      { call: expect.objectContaining({ id: 'a' }), turnId: 'turn_0002', messageIndex: 2 },
    ]);
  });

  it('know their message after results were put in before it', () => {
    const snapshot = new WorkingContextSnapshot([calls('a'), user('2'), calls('b')]);
    snapshot.placeToolResult(result('a'));
    expect(snapshot.openCalls()).toMatchObject([{ call: { id: 'b' }, messageIndex: 3 }]);
    snapshot.placeToolResult(result('b'));
    expect(checkPairing(snapshot.messages)).toStrictEqual([]);
  });

  it('include one that was added to its message later', () => {
    const snapshot = new WorkingContextSnapshot([calls('a'), result('a')]);
    snapshot.addToolCall(0, { id: 'b', name: 'tool_b', arguments: {} });
    snapshot.placeToolResult(result('b'));
    expect(sketch(snapshot.messages)).toStrictEqual([
      'assistant calls a b',
      'tool a = "result of a"',
      'tool b = "result of b"',
    ]);
  });
});

describe('what changed since the last save', () => {
  const saved = (messages: readonly Message[]) => {
    const snapshot = new WorkingContextSnapshot(messages);
    snapshot.markSaved(messages.length);
    return snapshot;
  };

  it('is what was appended', () => {
    const snapshot = saved([user('1')]);
    snapshot.appendAssistant('2');
    expect(snapshot.firstChanged).toBe(1);
  });

  it('starts where a result was put in', () => {
    const snapshot = saved([user('1'), calls('a'), user('2')]);
    snapshot.placeToolResult(result('a'));
    expect(snapshot.firstChanged).toBe(2);
  });

  it('starts at a message that was amended', () => {
    const snapshot = saved([user('1'), calls('a')]);
    snapshot.addToolCall(1, { id: 'b', name: 'tool_b', arguments: {} });
    expect(snapshot.firstChanged).toBe(1);
  });

  it('starts at the first other message when all are replaced', () => {
    const [first, second] = [user('1'), user('2')];
    const snapshot = saved([first, second]);
    snapshot.replaceAll([first, user('3'), second]);
    expect(snapshot.firstChanged).toBe(1);
  });

  it('is nothing when the same messages are set again', () => {
    const messages = [user('1'), user('2')];
    const snapshot = saved(messages);
    snapshot.replaceAll(messages);
    expect(snapshot.firstChanged).toBe(2);
  });

  it('starts at the end of a list that became shorter', () => {
    const messages = [user('1'), user('2')];
    const snapshot = saved(messages);
    snapshot.replaceAll(messages.slice(0, 1));
    expect(snapshot.firstChanged).toBe(1);
  });
});
