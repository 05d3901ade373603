/**
 * Random conversations in the neutral form, most of them faulty, that every format can be made to say: calls that nobody answers,
 * results twice, late or of nothing, ids twice or empty, odd order, blank and odd text, media, reasoning, large integers.
 */
import fc from 'fast-check';
import type { JsonValue } from '../../src/core/json.js';
import {
  type ContentPart,
  type Message,
  type ReasoningItem,
  type ToolCallSpec,
  toolResultOf,
} from '../../src/messages/message.js';

/** An integer that no number holds. In a value it is its digits; `digitsIn` writes it as the number that it is. */
export const BIG = '9007199254740993';

/** The text of a value, with large integers as numbers. */
export function digitsIn(value: unknown): string {
  return JSON.stringify(value).replaceAll(`"${BIG}"`, BIG);
}

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const said = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('go', 'I look.', 'Done.', 'and now?', 'ok') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('', ' \u200b', '\n', 'half \ud83d', 'a\u2028b', '\u0000x', '👩‍👩‍👧 漢字'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
);
const spoken = said.filter((text) => text.trim() !== '' && text !== ' \u200b');

const image: fc.Arbitrary<ContentPart> = fc
  .constantFrom('https://example.com/a.png', PNG)
  .map((ref) => ({ type: 'media', media: { kind: 'image', ref } }));

const user: fc.Arbitrary<Message> = fc.oneof(
  { weight: 4, arbitrary: said.map((content): Message => ({ role: 'user', content })) },
  {
    weight: 1,
    arbitrary: fc.tuple(spoken, image, fc.boolean()).map(
      ([text, picture, first]): Message => ({
        role: 'user',
        content: null,
        parts: first ? [{ type: 'text', text }, picture] : [picture, { type: 'text', text }],
      }),
    ),
  },
);

const reasoning: fc.Arbitrary<ReasoningItem> = fc
  .tuple(fc.constantFrom('Hm.', 'I think \ud83d.', 'So.'), fc.constantFrom('c2ln', 'c2lnMg=='), fc.boolean())
  .map(([text, signature, signed]) => (signed ? { text, signature } : { text }));

const callArguments: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 5, arbitrary: fc.nat(99).map((n): JsonValue => ({ path: String(n) })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<JsonValue>({}, { id: BIG }, { deep: [{ n: 1, text: 'half \ud83d' }, [BIG]] }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonValue>(
      '{"cut": o',
      '{"path": "7"}',
      '[]',
      '',
      '"{\\"path\\":\\"8\\"}"',
      '[1]',
    ),
  },
);

const ids = fc.constantFrom('a', 'b', 'c', 'call_0', '', 'a|fc_1', 'functions.read:0');
const call: fc.Arbitrary<ToolCallSpec> = fc.record(
  { id: ids, name: fc.constantFrom('read', 'find'), arguments: callArguments },
  { noNullPrototype: true },
);

/** What a tool gave: a text, a value or an error. */
type Outcome = Pick<Message, 'parts'> & { readonly value: JsonValue; readonly error: string | null };
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 5, arbitrary: fc.nat(999).map((n) => ({ value: `result ${n}`, error: null })) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<JsonValue>('', null, 0, false, [], { id: BIG }, 'half \ud83d', { list: [1, 'x'] })
      .map((value) => ({ value, error: null })),
  },
  { weight: 1, arbitrary: fc.constantFrom('exit 1', 'no \ude00').map((error) => ({ value: null, error })) },
  { weight: 1, arbitrary: image.map((part) => ({ value: 'see', error: null, parts: [part] })) },
);

function resultOf(id: string, { value, error, parts }: Outcome): Message {
  const payload = { toolCallId: id, toolName: '', toolResult: value, toolError: error };
  return { role: 'tool', content: null, toolPayload: payload, ...(parts ? { parts } : {}) };
}

/** An answer with calls, and the results of most of them. */
const batch: fc.Arbitrary<Message[]> = fc
  .tuple(
    fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: said }),
    fc.option(reasoning, { freq: 3 }),
    fc.array(fc.tuple(call, fc.option(outcome, { freq: 8 })), { minLength: 1, maxLength: 3 }),
  )
  .map(([content, thought, made]): Message[] => [
    {
      role: 'assistant',
      content,
      ...(thought ? { reasoning: [thought] } : {}),
      toolPayload: { toolCalls: made.map(([spec]) => spec) },
    },
    ...made.flatMap(([{ id }, given]) => (given ? [resultOf(id, given)] : [])),
  ]);

const answer: fc.Arbitrary<Message> = fc.tuple(said, fc.option(reasoning, { freq: 4 })).map(
  ([content, thought]): Message => ({
    role: 'assistant',
    content,
    ...(thought ? { reasoning: [thought] } : {}),
  }),
);

const turn: fc.Arbitrary<Message[]> = fc
  .tuple(user, fc.array(batch, { maxLength: 2 }), fc.option(answer, { freq: 5 }))
  .map(([first, batches, last]) => [first, ...batches.flat(), ...(last ? [last] : [])]);

type Fault = (messages: Message[], at: number, other: number) => void;

const system = (content: string): Fault => {
  return (messages, at) => messages.splice(at, 0, { role: 'system', content });
};

function loose(id: string, toolResult: string): Message {
  const toolPayload = { toolCallId: id, toolName: '', toolResult, toolError: null };
  return { role: 'tool', content: null, toolPayload };
}

/** The next result from there has its id in the spelling that clients make of it. */
function respell(messages: Message[], at: number): void {
  const found = messages.findIndex((message, index) => index >= at && message.role === 'tool');
  const result = toolResultOf(messages[found] ?? { role: 'user', content: null });
  if (!result) return;
  const toolCallId = result.toolCallId.replace(/[^a-zA-Z0-9_-]/g, '_');
  messages[found] = { ...messages[found]!, toolPayload: { ...result, toolCallId } };
}

const FAULTS: readonly Fault[] = [
  respell,
  respell,
  (messages, at) => messages.splice(at, 1),
  (messages, at) => messages.splice(at, 0, messages[at]!),
  (messages, at) => messages.push(messages.splice(at, 1)[0]!),
  (messages, at) => messages.unshift(messages.splice(at, 1)[0]!),
  (messages, at, other) => messages.splice(other, 0, messages.splice(at, 1)[0]!),
  (messages, at) => messages.splice(at, 0, { role: 'user', content: `interposed ${at}` }),
  (messages, at) => messages.splice(at, 0, { role: 'user', content: '' }),
  (messages, at) => messages.splice(at, 0, { role: 'assistant', content: ' ' }),
  (messages, at) => messages.splice(at, 0, loose('a', `late ${at}`)),
  (messages, at) => messages.splice(at, 0, loose('nothing', 'of nothing')),
  (messages, at) => messages.splice(at, 0, loose('', `without an id ${at}`)),
  system('Be kind.'),
  system('Be brief.'),
];

/** Of the shapes of all providers. */
export const conversation: fc.Arbitrary<Message[]> = fc
  .tuple(
    fc.option(fc.constantFrom('Be kind.', 'Be brief.', ''), { freq: 2 }),
    fc.array(turn, { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(fc.nat(FAULTS.length - 1), fc.nat(40), fc.nat(40)), { maxLength: 4 }),
  )
  .map(([head, turns, faults]) => {
    const messages: Message[] = [
      ...(head === null ? [] : [{ role: 'system' as const, content: head }]),
      ...turns.flat(),
    ];
    for (const [fault, at, other] of faults)
      if (messages.length > 0) FAULTS[fault]!(messages, at % messages.length, other % messages.length);
    return messages;
  });
