/** Each repair code by the smallest history that needs it. */
import { describe, expect, it } from 'vitest';
import { OPENING_USER } from '../../../src/messages/legality/h3-opens-with-user.js';
import { checkHistory, repairHistory } from '../../../src/messages/legality/history.js';
import {
  type HistoryFacts,
  REPAIR_CODES,
  type Repair,
  type RepairCode,
  RULE_IDS,
  type RuleId,
} from '../../../src/messages/legality/repairs.js';
import type { Message, MessageRole, ToolCallSpec } from '../../../src/messages/message.js';
import { assistant, calls, result, syntheticResult, user } from '../arbitraries.js';

const hello = user('hello');

function system(content: string): Message {
  return { role: 'system', content };
}

function call(change: Partial<ToolCallSpec>, more: Partial<Message> = {}): Message {
  return {
    role: 'assistant',
    content: null,
    toolPayload: { toolCalls: [{ id: 'a', name: 'tool_a', arguments: {}, ...change }] },
    ...more,
  };
}

function resultWith(change: object): Message {
  const message = result('a');
  return { ...message, toolPayload: { ...message.toolPayload, ...change } as never };
}

const interrupted: Message = {
  ...syntheticResult('a'),
  toolPayload: {
    toolCallId: 'a',
    toolName: 'tool_a',
    toolResult: null,
    toolError: expect.stringContaining('outcome is unknown') as unknown as string,
  },
};

interface Row {
  readonly code: RepairCode;
  readonly rule: RuleId;
  readonly at: number;
  readonly given: readonly Message[];
  readonly becomes: readonly Message[];
  readonly facts?: HistoryFacts;
  /** Other repairs of the same fault. */
  readonly beside?: readonly RepairCode[];
}

const ROWS: readonly Row[] = [
  {
    code: 'replace-unknown-role',
    rule: 'H1',
    at: 1,
    given: [hello, { role: 'model' as MessageRole, content: 'hi' }],
    becomes: [hello, assistant('hi')],
  },
  {
    code: 'replace-unknown-role',
    rule: 'H1',
    at: 2,
    given: [hello, calls('a'), { ...result('a'), role: 'user', content: 'and this' }],
    becomes: [hello, calls('a'), result('a'), user('and this')],
  },
  {
    code: 'replace-system',
    rule: 'H2',
    at: 0,
    given: [system('old'), hello, system('late')],
    becomes: [system('new'), hello],
    facts: { systemPrompt: 'new' },
  },
  {
    code: 'merge-system',
    rule: 'H2',
    at: 1,
    given: [{ role: 'system', content: null, parts: [{ type: 'text', text: 'one' }] }, system('two'), hello],
    becomes: [system('one\n\ntwo'), hello],
  },
  { code: 'move-system', rule: 'H2', at: 1, given: [hello, system('s')], becomes: [system('s'), hello] },
  {
    code: 'drop-repeated-system',
    rule: 'H2',
    at: 2,
    given: [system('s'), hello, system('s')],
    becomes: [system('s'), hello],
  },
  {
    code: 'demote-system',
    rule: 'H2',
    at: 2,
    given: [system('s'), hello, system('other')],
    becomes: [system('s'), hello, user('other')],
  },
  {
    code: 'add-opening-user',
    rule: 'H3',
    at: 1,
    given: [system('s'), assistant('hi')],
    becomes: [system('s'), OPENING_USER, assistant('hi')],
  },
  {
    code: 'add-interrupted-result',
    rule: 'H4',
    at: 1,
    given: [hello, calls('a')],
    becomes: [hello, calls('a'), interrupted],
  },
  {
    code: 'hoist-result',
    rule: 'H5',
    at: 3,
    given: [hello, calls('a'), user('still there?'), result('a')],
    becomes: [hello, calls('a'), result('a'), user('still there?')],
  },
  {
    code: 'merge-assistant',
    rule: 'H4',
    at: 2,
    given: [hello, calls('a'), calls('b'), result('a'), result('b')],
    becomes: [hello, calls('a', 'b'), result('a'), result('b')],
  },
  {
    code: 'relink-result',
    rule: 'H5',
    at: 2,
    given: [hello, call({ id: 'a|fc_1' }), result('a')],
    becomes: [hello, call({ id: 'a|fc_1' }), resultWith({ toolCallId: 'a|fc_1' })],
  },
  {
    code: 'reorder-results',
    rule: 'H6',
    at: 2,
    given: [hello, calls('a', 'b'), result('b'), result('a')],
    becomes: [hello, calls('a', 'b'), result('a'), result('b')],
    beside: ['reorder-results'],
  },
  { code: 'drop-orphan-result', rule: 'H5', at: 1, given: [hello, result('a')], becomes: [hello] },
  {
    code: 'note-late-result',
    rule: 'H5',
    at: 2,
    given: [{ ...hello, kind: 'memory' }, user('next'), result('a')],
    becomes: [
      { ...hello, kind: 'memory' },
      user('next'),
      { ...user('[Late result of an earlier call of tool_a]\nresult of a'), synthetic: true },
    ],
  },
  {
    code: 'drop-duplicate-result',
    rule: 'H5',
    at: 2,
    given: [hello, calls('a'), syntheticResult('a'), result('a')],
    becomes: [hello, calls('a'), result('a')],
  },
  {
    code: 'rename-call-id',
    rule: 'H7',
    at: 1,
    given: [hello, calls('a', 'a'), result('a', 1), result('a', 2)],
    becomes: [
      hello,
      {
        ...calls('a'),
        toolPayload: {
          toolCalls: [
            { id: 'a', name: 'tool_a', arguments: {} },
            { id: 'a_2', name: 'tool_a', arguments: {} },
          ],
        },
      },
      result('a', 1),
      resultWith({ toolCallId: 'a_2', toolResult: 2 }),
    ],
  },
  {
    code: 'normalise-arguments',
    rule: 'H8',
    at: 1,
    given: [hello, call({ arguments: '{"id": 9007199254740993}' }), result('a')],
    becomes: [
      hello,
      call({ arguments: { id: '9007199254740993' }, argumentsText: '{"id": 9007199254740993}' }),
      result('a'),
    ],
  },
  {
    code: 'wrap-raw-arguments',
    rule: 'H8',
    at: 1,
    given: [hello, call({ arguments: null, argumentsText: '{"cut": "o' }), result('a')],
    becomes: [hello, call({ arguments: { _unparsed_arguments: '{"cut": "o' } }), result('a')],
  },
  {
    code: 'drop-unfinished-call',
    rule: 'H8',
    at: 3,
    given: [
      hello,
      calls('a'),
      result('a'),
      call({ arguments: '{"cu' }, { content: 'So', status: 'aborted' }),
    ],
    becomes: [hello, calls('a'), result('a'), { ...assistant('So'), status: 'aborted' }],
  },
  {
    code: 'drop-partial-reasoning',
    rule: 'H8',
    at: 1,
    given: [
      hello,
      call(
        { arguments: '{"cu' },
        {
          content: 'So',
          status: 'failed',
          reasoningContent: 'Hm',
          reasoning: [{ text: 'Ha', signature: 's' }],
        },
      ),
    ],
    becomes: [hello, { ...assistant('So'), status: 'failed', reasoning: [{ text: 'Ha', signature: 's' }] }],
    beside: ['drop-unfinished-call'],
  },
  { code: 'drop-empty-message', rule: 'H9', at: 1, given: [hello, assistant(' \u200b\n')], becomes: [hello] },
  {
    code: 'fill-empty-result',
    rule: 'H9',
    at: 2,
    given: [hello, calls('a'), result('a', ' ')],
    becomes: [hello, calls('a'), result('a', '(no output)')],
  },
  {
    code: 'fix-unicode',
    rule: 'H10',
    at: 2,
    given: [hello, calls('a'), result('a', { 'k\ud83d': ['\ude00', 'fine'] })],
    becomes: [hello, calls('a'), result('a', { 'k\ufffd': ['\ufffd', 'fine'] })],
  },
  {
    code: 'merge-result-and-error',
    rule: 'H11',
    at: 2,
    given: [hello, calls('a'), resultWith({ toolError: 'failed' })],
    becomes: [hello, calls('a'), resultWith({ toolResult: null, toolError: 'failed\nresult of a' })],
  },
  {
    code: 'name-result',
    rule: 'H11',
    at: 2,
    given: [hello, calls('a'), resultWith({ toolName: 'other' })],
    becomes: [hello, calls('a'), result('a')],
  },
  {
    code: 'omit-empty-tool-calls',
    rule: 'H12',
    at: 1,
    given: [hello, { ...assistant('hi'), toolPayload: { toolCalls: [] } }],
    becomes: [hello, assistant('hi')],
  },
  {
    code: 'drop-hollow-reasoning',
    rule: 'H13',
    at: 1,
    given: [
      hello,
      {
        ...assistant('hi'),
        reasoning: [
          { text: ' ', signature: 's' },
          { text: null, encrypted: 'e', signature: 's' },
        ],
      },
    ],
    becomes: [hello, { ...assistant('hi'), reasoning: [{ text: null, encrypted: 'e', signature: 's' }] }],
  },
  {
    code: 'drop-replayed-duplicate',
    rule: 'H14',
    at: 1,
    given: [
      { ...hello, messageId: 'm' },
      { ...hello, messageId: 'm', turnId: 'turn_0002' },
    ],
    becomes: [{ ...hello, messageId: 'm' }],
  },
  {
    code: 'drop-repeated-message-id',
    rule: 'H14',
    at: 1,
    given: [
      { ...hello, messageId: 'm' },
      { ...user('other'), messageId: 'm' },
    ],
    becomes: [{ ...hello, messageId: 'm' }, user('other')],
  },
];

describe('a repair', () => {
  it.each(ROWS)('$code mends a breach of $rule', ({ code, rule, at, given, becomes, facts, beside = [] }) => {
    const { messages, repairs } = repairHistory(given, facts);
    expect(messages).toStrictEqual(becomes);
    expect(repairs.map((repair) => repair.code).sort()).toStrictEqual([code, ...beside].sort());
    expect(repairs.find((repair) => repair.code === code)).toMatchObject({
      messageIndex: at,
    } satisfies Partial<Repair>);
    expect(checkHistory(given).map((violation) => violation.rule)).toContain(rule);
  });

  it('has a line here for each code and each rule', () => {
    expect(new Set(ROWS.map(({ code }) => code))).toStrictEqual(new Set(REPAIR_CODES));
    expect(new Set(ROWS.map(({ rule }) => rule))).toStrictEqual(new Set(RULE_IDS));
  });

  it('leaves a list as it is when each call that an answer did not finish has a result', () => {
    const kept = [
      hello,
      call({ arguments: { _unparsed_arguments: '{"cu' } }, { status: 'aborted' }),
      result('a'),
    ];
    expect(repairHistory(kept).messages).toBe(kept);
  });

  it('drops an unfinished call whose text stands beside an empty value', () => {
    const cut = call({ arguments: null, argumentsText: '{"cu' }, { content: 'So', status: 'aborted' });
    const { messages, repairs } = repairHistory([hello, cut]);
    expect(messages).toStrictEqual([hello, { ...assistant('So'), status: 'aborted' }]);
    expect(repairs.map((repair) => repair.code)).toStrictEqual(['drop-unfinished-call']);
  });

  it('counts messages as they stood in the given list, whatever was dropped or split before them', () => {
    const { repairs } = repairHistory([
      user(' '),
      { ...calls('a'), role: 'user', content: 'do it' },
      result('a'),
      result('lost'),
      assistant('half \ud83d'),
    ]);
    expect(repairs.map(({ code, messageIndex }) => [messageIndex, code])).toStrictEqual([
      [0, 'drop-empty-message'],
      [1, 'replace-unknown-role'],
      [3, 'drop-orphan-result'],
      [4, 'fix-unicode'],
    ]);
  });
});
