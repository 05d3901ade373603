/** The time of a check and of a repair grows with the number of messages and calls alone, whichever fault they have. */
import { describe, expect, it } from 'vitest';
import { checkHistory, repairHistory } from '../../../src/messages/legality/history.js';
import type { Message, MessageRole, ToolCallSpec } from '../../../src/messages/message.js';
import { assistant, calls, result, syntheticResult, user } from '../arbitraries.js';

const SIZE = 30_000;
/** A tenth of this is usual; time that grew with the square would be a thousand times more. */
const TIME_MAX_MS = 4_000;

function list<T>(size: number, make: (index: number) => T): T[] {
  return Array.from({ length: size }, (_, index) => make(index));
}

const half = SIZE / 2;
const third = Math.floor(SIZE / 3);
const ids = (prefix: string, size = half) => list(size, (index) => `${prefix}${index}`);
const cutCall = (id: string): ToolCallSpec => ({ id, name: 'tool', arguments: '{"cut": "o' });

function withResult(id: string, change: object): Message {
  const message = result(id);
  return { ...message, toolPayload: { ...message.toolPayload, ...change } as never };
}

function aborted(toolCalls: ToolCallSpec[]): Message {
  return { role: 'assistant', content: 'So', status: 'aborted', toolPayload: { toolCalls } };
}

const KINDS: readonly (readonly [name: string, make: () => Message[]])[] = [
  ['unknown roles', () => list(SIZE, (n) => ({ role: 'narrator' as MessageRole, content: `${n}` }))],
  [
    'results of the user',
    () =>
      list(half, (n) => [
        calls(`c${n}`),
        { ...result(`c${n}`), role: 'user' as const, content: 'and' },
      ]).flat(),
  ],
  ['system messages at the head', () => list(SIZE, (n) => ({ role: 'system', content: `${n}` }))],
  [
    'system messages in the middle',
    () => list(half, (n): Message[] => [user('u'), { role: 'system', content: `${n}` }]).flat(),
  ],
  ['an opening by the assistant', () => list(SIZE, (n) => assistant(`${n}`))],
  ['open calls', () => list(SIZE, (n) => calls(`c${n}`))],
  ['open calls of one id', () => list(SIZE, () => calls('c'))],
  ['open calls of one message', () => [user('u'), calls(...ids('c', SIZE))]],
  ['results without a call', () => ids('c', SIZE).map((id) => result(id))],
  [
    'results without a call, behind a message with many calls',
    () => [calls(...ids('c')), ...ids('x').map((id) => result(id))],
  ],
  [
    'late results',
    () => [{ ...user('summary'), kind: 'memory' }, user('u'), ...ids('c', SIZE).map((id) => result(id))],
  ],
  ['results in another spelling', () => [calls(...ids('c|')), ...ids('c_').map((id) => result(id))]],
  ['results that fit one call in another spelling', () => [calls('c|1'), ...list(SIZE, () => result('c_1'))]],
  ['results of one call', () => [calls('c'), ...list(SIZE, () => result('c'))]],
  [
    'real results behind invented ones',
    () => list(third, () => [calls('c'), syntheticResult('c'), result('c')]).flat(),
  ],
  [
    'real results far behind invented ones',
    () => [
      ...list(third, () => [calls('c'), syntheticResult('c')]).flat(),
      ...list(third, () => result('c')),
    ],
  ],
  [
    'calls of one response as many messages',
    () => [user('u'), ...ids('c').map((id) => calls(id)), ...ids('c').map((id) => result(id))],
  ],
  [
    'results against the order of their calls',
    () => [
      calls(...ids('c')),
      ...ids('c')
        .reverse()
        .map((id) => result(id)),
    ],
  ],
  [
    'results behind other messages',
    () => ids('c', third).flatMap((id) => [calls(id), user('u'), result(id)]),
  ],
  [
    'calls of one id in one message',
    () => [calls(...list(half, () => 'c')), ...list(half, () => result('c'))],
  ],
  [
    'calls without an id in one message',
    () => [calls(...list(half, () => '')), ...list(half, () => result(''))],
  ],
  [
    'arguments that were cut off',
    () =>
      ids('c').flatMap((id): Message[] => [
        { ...calls(id), toolPayload: { toolCalls: [cutCall(id)] } },
        result(id),
      ]),
  ],
  ['answers that were cut off', () => ids('c', SIZE).map((id) => aborted([cutCall(id)]))],
  ['an answer with many calls that was cut off', () => [user('u'), aborted(ids('c', SIZE).map(cutCall))]],
  ['blank messages', () => list(SIZE, () => user(' \u200b'))],
  ['halves of surrogate pairs', () => list(SIZE, (n) => user(`\ud800${n}`))],
  [
    'results that are errors too',
    () => ids('c').flatMap((id) => [calls(id), withResult(id, { toolError: 'no' })]),
  ],
  [
    'results with wrong names, against the order',
    () => [
      calls(...ids('c')),
      ...ids('c')
        .reverse()
        .map((id) => withResult(id, { toolName: 'x' })),
    ],
  ],
  ['empty lists of calls', () => list(SIZE, () => ({ ...assistant('a'), toolPayload: { toolCalls: [] } }))],
  [
    'signatures without text',
    () => list(SIZE, () => ({ ...assistant('a'), reasoning: [{ text: '', signature: 's' }] })),
  ],
  ['messages that were sent again', () => list(SIZE, () => ({ ...user('u'.repeat(1_000)), messageId: 'm' }))],
  [
    'messages that share an id',
    () => list(SIZE, (n) => ({ ...user(n === 0 ? 'u'.repeat(100_000) : `${n}`), messageId: 'm' })),
  ],
];

describe('100,000 messages or calls', () => {
  it.each(KINDS)(
    'with %s are checked and repaired in a time that is linear',
    (_, make) => {
      const messages = make();
      const startMs = performance.now();
      const violations = checkHistory(messages);
      const repaired = repairHistory(messages);
      expect(performance.now() - startMs).toBeLessThan(TIME_MAX_MS);
      expect(violations.length).toBeGreaterThan(0);
      expect(repaired.repairs.length).toBeGreaterThan(0);
      expect(repairHistory(repaired.messages).messages).toBe(repaired.messages);
    },
    30_000,
  );
});
