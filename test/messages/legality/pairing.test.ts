import { describe, expect, it } from 'vitest';
import { repairHistory } from '../../../src/messages/legality/history.js';
import { OUTCOME_UNKNOWN_TEXT } from '../../../src/messages/legality/pairing-rule.js';
import type { HistoryFacts } from '../../../src/messages/legality/repairs.js';
import { type Message, toolCallsOf, toolResultOf } from '../../../src/messages/message.js';
import { assistant, calls, result, syntheticResult, user } from '../arbitraries.js';
import { checkPairing, repairPairing } from './pairing-only.js';

/** `call -> result` in one line a message, so that a table shows where each one stands. */
function sketch(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    const answer = toolResultOf(message);
    if (answer) {
      const value = message.synthetic ? '?' : JSON.stringify(answer.toolResult);
      return `${answer.toolCallId} = ${value}`;
    }
    const ids =
      message.toolPayload && 'toolCalls' in message.toolPayload ? message.toolPayload.toolCalls : [];
    return ids.length > 0
      ? `call ${ids.map(({ id }) => id).join(' ')}`
      : `${message.role}: ${message.content}`;
  });
}

interface Case {
  readonly name: string;
  readonly messages: readonly Message[];
  readonly breaks: readonly string[];
  readonly repairs: readonly string[];
  readonly repaired: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'a result whose call went with an older part of the history',
    messages: [result('a', 'port: 8080'), assistant('The port is 8080.'), user('Change it.')],
    breaks: ['H5@0 a'],
    repairs: ['drop-orphan-result@0 a'],
    repaired: ['assistant: The port is 8080.', 'user: Change it.'],
  },
  {
    name: 'a call at the end without its result',
    messages: [user('Deploy.'), calls('a')],
    breaks: ['H4@1 a'],
    repairs: ['add-interrupted-result@1 a'],
    repaired: ['user: Deploy.', 'call a', 'a = ?'],
  },
  {
    name: 'a call in the middle without its result',
    messages: [user('Test.'), calls('a'), user('Never mind.'), assistant('Fine.')],
    breaks: ['H4@1 a'],
    repairs: ['add-interrupted-result@1 a'],
    repaired: ['user: Test.', 'call a', 'a = ?', 'user: Never mind.', 'assistant: Fine.'],
  },
  {
    name: 'three calls of which the last was answered',
    messages: [user('Three.'), calls('a', 'b', 'c'), result('c', 3), user('List them.')],
    breaks: ['H4@1 a', 'H4@1 b'],
    repairs: ['add-interrupted-result@1 a', 'add-interrupted-result@1 b'],
    repaired: ['user: Three.', 'call a b c', 'a = ?', 'b = ?', 'c = 3', 'user: List them.'],
  },
  {
    name: 'text between a call and its result',
    messages: [user('Search.'), calls('a'), assistant('A note.'), result('a', 1), user('ok')],
    breaks: ['H4@1 a', 'H5@3 a'],
    repairs: ['hoist-result@3 a'],
    repaired: ['user: Search.', 'call a', 'a = 1', 'assistant: A note.', 'user: ok'],
  },
  {
    name: 'calls in two messages with the results after both',
    messages: [user('Both.'), calls('a'), calls('b'), result('a', 1), result('b', 2)],
    breaks: ['H4@1 a', 'H5@3 a'],
    repairs: ['merge-assistant@2'],
    repaired: ['user: Both.', 'call a b', 'a = 1', 'b = 2'],
  },
  {
    name: 'two results of one call',
    messages: [user('Read.'), calls('a'), result('a', 'hello'), result('a', 'again'), assistant('Hello.')],
    breaks: ['H5@3 a'],
    repairs: ['drop-duplicate-result@3 a'],
    repaired: ['user: Read.', 'call a', 'a = "hello"', 'assistant: Hello.'],
  },
  {
    name: 'a result that came after the next turn',
    messages: [
      user('Ask.'),
      calls('a', 'b'),
      result('a', 1),
      user('status?'),
      assistant('One runs.'),
      result('b', 2),
    ],
    breaks: ['H4@1 b', 'H5@5 b'],
    repairs: ['hoist-result@5 b'],
    repaired: ['user: Ask.', 'call a b', 'a = 1', 'b = 2', 'user: status?', 'assistant: One runs.'],
  },
  {
    name: 'the first of two results after the next message',
    messages: [calls('a', 'b'), result('b', 2), user('hm'), result('a', 1)],
    breaks: ['H4@0 a', 'H5@3 a'],
    repairs: ['hoist-result@3 a'],
    repaired: ['call a b', 'a = 1', 'b = 2', 'user: hm'],
  },
  {
    name: 'results in another order than their calls',
    messages: [user('Two.'), calls('a', 'b'), result('b', 2), result('a', 1)],
    breaks: ['H6@2 b', 'H6@3 a'],
    repairs: ['reorder-results@2 b', 'reorder-results@3 a'],
    repaired: ['user: Two.', 'call a b', 'a = 1', 'b = 2'],
  },
  {
    name: 'a late result of a call that got an interrupted result before',
    messages: [user('Go.'), calls('a'), syntheticResult('a'), user('And?'), result('a', 'done')],
    breaks: ['H4@1 a', 'H5@2 a', 'H5@4 a'],
    repairs: ['drop-duplicate-result@2 a', 'hoist-result@4 a'],
    repaired: ['user: Go.', 'call a', 'a = "done"', 'user: And?'],
  },
  {
    name: 'an interrupted result after the real one',
    messages: [user('Go.'), calls('a'), result('a', 'done'), syntheticResult('a')],
    breaks: ['H5@3 a'],
    repairs: ['drop-duplicate-result@3 a'],
    repaired: ['user: Go.', 'call a', 'a = "done"'],
  },
  {
    name: 'an id used again, the first call open',
    messages: [user('1'), calls('a'), user('2'), calls('a'), result('a', 'second')],
    breaks: ['H4@1 a'],
    repairs: ['add-interrupted-result@1 a'],
    repaired: ['user: 1', 'call a', 'a = ?', 'user: 2', 'call a', 'a = "second"'],
  },
  {
    name: 'an id used again, both results at the end',
    messages: [calls('a'), calls('a'), result('a', 'x'), result('a', 'y')],
    breaks: ['H4@0 a', 'H5@3 a'],
    repairs: ['hoist-result@3 a'],
    repaired: ['call a', 'a = "y"', 'call a', 'a = "x"'],
  },
  {
    name: 'a late result of an interrupted call whose id was used again since',
    messages: [calls('a'), syntheticResult('a'), user('2'), calls('a'), result('a', 2), result('a', 'late')],
    breaks: ['H4@0 a', 'H5@1 a', 'H5@5 a'],
    repairs: ['drop-duplicate-result@1 a', 'hoist-result@5 a'],
    repaired: ['call a', 'a = "late"', 'user: 2', 'call a', 'a = 2'],
  },
  {
    name: 'a second result, by its turn not the one of an older interrupted call',
    messages: [
      { ...calls('a'), turnId: 'turn_0001' },
      { ...syntheticResult('a'), turnId: 'turn_0001' },
      { ...calls('a'), turnId: 'turn_0002' },
      { ...result('a', 2), turnId: 'turn_0002' },
      { ...result('a', 'again'), turnId: 'turn_0002' },
    ],
    breaks: ['H5@4 a'],
    repairs: ['drop-duplicate-result@4 a'],
    repaired: ['call a', 'a = ?', 'call a', 'a = 2'],
  },
  {
    name: 'a tool message without anything in it',
    messages: [user('1'), { role: 'tool', content: 'text' }, assistant('2')],
    breaks: ['H5@1'],
    repairs: ['drop-orphan-result@1'],
    repaired: ['user: 1', 'assistant: 2'],
  },
  {
    name: 'many faults at once',
    messages: [
      result('z', 0),
      calls('a', 'b'),
      user('hm'),
      result('b', 2),
      result('b', 3),
      calls('c'),
      result('a', 1),
      user('end'),
    ],
    breaks: ['H5@0 z', 'H4@1 a', 'H4@1 b', 'H5@3 b', 'H5@4 b', 'H4@5 c', 'H5@6 a'],
    repairs: [
      'drop-orphan-result@0 z',
      'hoist-result@3 b',
      'drop-duplicate-result@4 b',
      'add-interrupted-result@5 c',
      'hoist-result@6 a',
    ],
    repaired: ['call a b', 'a = 1', 'b = 2', 'user: hm', 'call c', 'c = ?', 'user: end'],
  },
];

const LEGAL: readonly { readonly name: string; readonly messages: readonly Message[] }[] = [
  { name: 'an empty one', messages: [] },
  { name: 'one without tools', messages: [user('Hi'), assistant('Hello')] },
  { name: 'one with parallel calls', messages: [user('Two.'), calls('a', 'b'), result('a'), result('b')] },
  {
    name: 'one that uses an id again in each turn',
    messages: [user('1'), calls('a'), result('a', 1), user('2'), calls('a'), result('a', 2)],
  },
  {
    name: 'one that says the same twice',
    messages: [user('go on'), assistant('1'), user('go on'), assistant('1')],
  },
  {
    name: 'one with two calls of one id in one message',
    messages: [calls('a', 'b', 'a'), result('a', 1), result('b', 2), result('a', 3)],
  },
  { name: 'one with an interrupted result', messages: [user('1'), calls('a'), syntheticResult('a')] },
];

const labels = (list: readonly { messageIndex: number; callId?: string }[], key: 'rule' | 'code') =>
  list.map((item) => {
    const id = item.callId === undefined ? '' : ` ${item.callId}`;
    return `${(item as unknown as Record<string, string>)[key]}@${item.messageIndex}${id}`;
  });

describe('checkPairing', () => {
  it.each(CASES)('names each violation of $name', ({ messages, breaks }) => {
    expect(labels(checkPairing(messages), 'rule').sort()).toStrictEqual([...breaks].sort());
  });

  it.each(LEGAL)('finds nothing in a legal history: $name', ({ messages }) => {
    expect(checkPairing(messages)).toStrictEqual([]);
  });
});

describe('repairPairing', () => {
  it.each(CASES)('makes a history legal: $name', ({ messages, repairs, repaired }) => {
    const outcome = repairPairing(messages);
    expect(sketch(outcome.messages)).toStrictEqual(repaired);
    expect(labels(outcome.repairs, 'code')).toStrictEqual(repairs);
    expect(checkPairing(outcome.messages)).toStrictEqual([]);
  });

  it.each(CASES)('leaves the list that it was given as it was: $name', ({ messages }) => {
    const before = structuredClone(messages);
    repairPairing(messages);
    expect(messages).toStrictEqual(before);
  });

  it.each(CASES)(
    'gives each message that it keeps as the same object, merged ones aside: $name',
    ({ messages }) => {
      const own = new Set(messages);
      const added = repairPairing(messages).messages.filter((message) => !own.has(message));
      expect(added.every((message) => message.synthetic || toolCallsOf(message).length > 1)).toBe(true);
    },
  );

  it.each(LEGAL)('gives a legal history back as the same list: $name', ({ messages }) => {
    const outcome = repairPairing(messages);
    expect(outcome.messages).toBe(messages);
    expect(outcome.repairs).toStrictEqual([]);
  });

  it('says in an interrupted result that the outcome is unknown, without a time or a random part', () => {
    const { messages } = repairPairing([calls('a')]);
    expect(toolResultOf(messages[1]!)).toStrictEqual({
      toolCallId: 'a',
      toolName: 'tool_a',
      toolResult: null,
      toolError: OUTCOME_UNKNOWN_TEXT,
    });
    expect(OUTCOME_UNKNOWN_TEXT).toMatch(/unknown/);
    expect(OUTCOME_UNKNOWN_TEXT).not.toMatch(/\d/);
  });

  it('puts an interrupted result into the turn of its call', () => {
    const { messages } = repairPairing([{ ...calls('a'), turnId: 'turn_0007' }]);
    expect(messages[1]?.turnId).toBe('turn_0007');
  });

  it('takes the text of an interrupted result from the host', () => {
    const facts: HistoryFacts = { interruptedText: (callId, index) => `${callId} at ${index} never ran` };
    const { messages } = repairPairing([user('go'), calls('a')], facts);
    expect(toolResultOf(messages[2]!)?.toolError).toBe('a at 1 never ran');
  });

  it('leaves a call open that the host keeps open, and closes the others of its message', () => {
    const outcome = repairPairing([calls('a', 'b', 'c'), result('c', 3)], { keepOpen: new Set(['b']) });
    expect(sketch(outcome.messages)).toStrictEqual(['call a b c', 'a = ?', 'c = 3']);
    expect(labels(outcome.repairs, 'code')).toStrictEqual(['add-interrupted-result@0 a']);
  });

  it('gives back the same list when the only open call is kept open', () => {
    const messages = [calls('a', 'b'), result('b')];
    expect(repairPairing(messages, { keepOpen: new Set(['a']) }).messages).toBe(messages);
  });
});

describe('the whole repair', () => {
  it('gives a call that shares its id one that no other call of its message has', () => {
    const { messages } = repairHistory([
      user('go'),
      calls('a', 'a', 'a_2'),
      result('a', 1),
      result('a', 2),
      result('a_2', 3),
    ]);
    expect(sketch(messages)).toStrictEqual(['user: go', 'call a a_3 a_2', 'a = 1', 'a_3 = 2', 'a_2 = 3']);
  });

  it('does not guess which of two results with other spellings of its id a call has', () => {
    const given = [user('go'), calls('c|d'), result('c_d', 1), result('c', 2)];
    expect(sketch(repairHistory(given).messages)).toStrictEqual(['user: go', 'call c|d', 'c|d = ?']);
    expect(sketch(repairHistory(given.slice(0, 3)).messages)).toStrictEqual([
      'user: go',
      'call c|d',
      'c|d = 1',
    ]);
  });
});
