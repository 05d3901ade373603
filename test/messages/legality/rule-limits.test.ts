/** Lines that a rule must not cross. */
import { describe, expect, it } from 'vitest';
import { checkHistory, repairHistory } from '../../../src/messages/legality/history.js';
import { type Message, type ToolCallSpec, toolCallsOf } from '../../../src/messages/message.js';
import { calls, result, user } from '../arbitraries.js';

const hello = user('hello');

function call(change: Partial<ToolCallSpec>): Message {
  return {
    role: 'assistant',
    content: null,
    toolPayload: { toolCalls: [{ id: 'a', name: 'tool_a', arguments: {}, ...change }] },
  };
}

describe('a rule', () => {
  it.each<[string, readonly Message[]]>([
    [
      'joins no calls of two responses with names of their own',
      [
        { ...calls('a'), messageId: 'm1' },
        { ...calls('b'), messageId: 'm2' },
      ],
    ],
    [
      'joins no calls of two turns',
      [
        { ...calls('a'), turnId: 'turn_0001' },
        { ...calls('b'), turnId: 'turn_0002' },
      ],
    ],
    ['joins no calls that share an id', [calls('a'), calls('a')]],
    [
      'joins no calls with an image between them',
      [calls('a'), { ...calls('b'), imageUrls: ['https://example.com/a.png'] }],
    ],
  ])('%s', (_, two) => {
    const results = two.flatMap(toolCallsOf).map(({ id }) => result(id));
    const { messages } = repairHistory([hello, ...two, ...results]);
    expect(messages.filter(({ role }) => role === 'assistant')).toStrictEqual(two);
  });

  it('drops no cut call that has a result', () => {
    const { repairs } = repairHistory([
      hello,
      { ...call({ arguments: '{"cut' }), status: 'aborted' },
      result('a'),
    ]);
    expect(repairs.map(({ code }) => code)).toStrictEqual(['wrap-raw-arguments']);
  });

  it('keeps what does not become arguments: digits that are no JSON are not made into some', () => {
    const { messages } = repairHistory([hello, call({ arguments: '{12345678901234567890:1}' }), result('a')]);
    expect(messages[1]).toStrictEqual(
      call({ arguments: { _unparsed_arguments: '{12345678901234567890:1}' } }),
    );
  });

  it.each([null, 0, false, [], {}])('takes %j for output', (value) => {
    const given = [hello, calls('a'), result('a', value)];
    expect(repairHistory(given).messages).toBe(given);
  });

  it('links no result to one of two calls that it may answer', () => {
    const { repairs } = repairHistory([hello, calls('a|1', 'a|2'), result('a')]);
    expect(repairs.map(({ code }) => code)).not.toContain('relink-result');
  });

  it('sees that two message ids are one once they are well-formed', () => {
    const given = ['\ud83d', '\ude00'].map((half) => ({ ...user(half), messageId: `m${half}` }));
    const { messages } = repairHistory(given);
    expect(messages.map(({ messageId }) => messageId)).toStrictEqual(['m\ufffd', undefined]);
    expect(checkHistory(messages)).toStrictEqual([]);
  });
});
