/** Random histories: legal ones with everything that a conversation may hold, and the same with faults planted in them. */
import fc from 'fast-check';
import type { JsonValue } from '../../../src/core/json.js';
import type {
  ContentPart,
  Message,
  MessageRole,
  ReasoningItem,
  ToolCallSpec,
} from '../../../src/messages/message.js';
import { jsonValue } from '../arbitraries.js';

const said = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom('go on', 'ok\u2028', '你好 👩‍👩‍👧', '\u0000x'),
  )
  .map((text) => `${text}.`);

const signed: fc.Arbitrary<ReasoningItem> = fc.record(
  {
    text: said,
    signature: fc.constantFrom('c2ln', 'c2lnbmF0dXJl'),
    origin: fc.constantFrom({ provider: 'anthropic', model: 'model-a' }, { provider: 'google' }),
  },
  { requiredKeys: ['text'], noNullPrototype: true },
);
const opaque: fc.Arbitrary<ReasoningItem> = fc.constantFrom<ReasoningItem>(
  { text: null, encrypted: 'ZW5j', id: 'rs_1', origin: { provider: 'openai' } },
  { text: null, encrypted: 'cmVk', redacted: true, origin: { provider: 'anthropic' } },
);

const image: ContentPart = {
  type: 'media',
  media: {
    kind: 'image',
    mime: 'image/png',
    ref: `sha256:${'a'.repeat(64)}`,
    bytes: 10,
    width: 4,
    height: 4,
  },
};

const userMessage: fc.Arbitrary<Message> = fc.oneof(
  said.map((content): Message => ({ role: 'user', content })),
  said.map((text): Message => ({ role: 'user', content: null, parts: [{ type: 'text', text }, image] })),
  fc.constant<Message>({ role: 'user', content: null, parts: [image] }),
  said.map((content): Message => ({ role: 'user', content, kind: 'memory' })),
);

const answer: fc.Arbitrary<Message> = fc.oneof(
  said.map((content): Message => ({ role: 'assistant', content })),
  fc
    .tuple(said, fc.array(fc.oneof(signed, opaque), { minLength: 1, maxLength: 2 }))
    .map(([content, reasoning]): Message => ({ role: 'assistant', content, reasoning })),
  fc.tuple(said, signed, signed).map(
    ([text, first, second]): Message => ({
      role: 'assistant',
      content: null,
      parts: [
        { type: 'reasoning', reasoning: first },
        { type: 'text', text: '' },
        { type: 'reasoning', reasoning: second },
        { type: 'text', text },
      ],
    }),
  ),
  said.map((content): Message => ({ role: 'assistant', content, status: 'aborted', reasoningContent: 'Hm' })),
);

const callIds = fc.uniqueArray(fc.constantFrom('a', 'b', 'call_0', 'x|y', '漢'), {
  minLength: 1,
  maxLength: 4,
});
const results: fc.Arbitrary<JsonValue> = fc.oneof(
  jsonValue.filter((value) => typeof value !== 'string'),
  said,
  fc.constantFrom<JsonValue>(0, false, null, []),
);

function callOf(id: string): ToolCallSpec {
  return { id, name: `tool_${id.length}`, arguments: { q: id, deep: [{ n: 1 }] } };
}

const batch: fc.Arbitrary<Message[]> = fc
  .tuple(callIds, fc.option(said), fc.infiniteStream(results), fc.infiniteStream(fc.boolean()))
  .map(([ids, content, values, fails]) => [
    { role: 'assistant', content, toolPayload: { toolCalls: ids.map(callOf) } },
    ...ids.map((id): Message => {
      const failed = fails.next().value;
      const toolResult = failed ? null : values.next().value;
      const toolError = failed ? 'exit 1' : null;
      return {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: id, toolName: callOf(id).name, toolResult, toolError },
      };
    }),
  ]);

const turn: fc.Arbitrary<Message[]> = fc
  .tuple(
    userMessage,
    fc.array(
      fc.oneof(
        answer.map((message) => [message]),
        batch,
      ),
      { maxLength: 4 },
    ),
  )
  .map(([first, rest]) => [first, ...rest.flat()]);

/** Breaks no rule. Ids of messages are distinct; ids of calls come again in other batches. */
export const richLegalHistory: fc.Arbitrary<Message[]> = fc
  .tuple(fc.option(said), fc.array(turn, { maxLength: 5 }), fc.boolean())
  .map(([system, turns, named]) => {
    const head: Message[] = system === null ? [] : [{ role: 'system', content: system }];
    const messages = [...head, ...turns.flat()];
    return named ? messages.map((message, index) => ({ ...message, messageId: `m${index}` })) : messages;
  });

type Fault = (messages: Message[], at: number) => void;

const replace = (messages: Message[], at: number, change: Partial<Message>) => {
  messages[at] = { ...messages[at]!, ...change };
};

const withCalls = (change: (calls: ToolCallSpec[]) => ToolCallSpec[]): Fault => {
  return (messages, at) => {
    const payload = messages[at]!.toolPayload;
    if (payload && 'toolCalls' in payload)
      replace(messages, at, { toolPayload: { toolCalls: change([...payload.toolCalls]) } });
  };
};

const withResult = (change: {
  toolResult?: JsonValue;
  toolError?: string | null;
  toolName?: string;
  toolCallId?: string;
}): Fault => {
  return (messages, at) => {
    const payload = messages[at]!.toolPayload;
    if (payload && 'toolCallId' in payload) replace(messages, at, { toolPayload: { ...payload, ...change } });
  };
};

/** One fault of each kind; `at` is where. */
const FAULTS: readonly Fault[] = [
  (messages, at) => messages.splice(at, 1),
  (messages, at) => messages.splice(at, 0, messages[at]!),
  (messages, at) => messages.push(messages.splice(at, 1)[0]!),
  (messages, at) => messages.unshift(messages.splice(at, 1)[0]!),
  (messages, at) => messages.splice(at, 0, { role: 'user', content: `interposed ${at}` }),
  (messages, at) => messages.splice(at, 0, { role: 'assistant', content: ' \u200b' }),
  (messages, at) => messages.splice(at, 0, { role: 'system', content: 'late' }),
  (messages, at) => replace(messages, at, { role: 'developer' as MessageRole }),
  (messages, at) => replace(messages, at, { role: 'narrator' as MessageRole }),
  (messages, at) => replace(messages, at, { content: 'half \ud83d' }),
  (messages, at) => replace(messages, at, { role: 'user' }),
  (messages, at) => replace(messages, at, { role: 'assistant' }),
  (messages, at) => replace(messages, at, { role: 'tool' }),
  (messages, at) => replace(messages, at, { content: `said ${at}`, role: 'user' }),
  (messages, at) => replace(messages, at, { messageId: 'id \ud83d' }),
  (messages, at) => replace(messages, at, { messageId: 'id \ude00' }),
  (messages, at) => replace(messages, at, { status: 'aborted' }),
  (messages, at) => replace(messages, at, { synthetic: true }),
  (messages, at) => replace(messages, at, { kind: 'memory' }),
  (messages, at) => replace(messages, at, { turnId: `turn_${at % 3}` }),
  (messages, at) => replace(messages, at, { messageId: 'same' }),
  (messages, at) => replace(messages, at, { reasoning: [{ text: '', signature: 'c2ln' }] }),
  (messages, at) => {
    if (messages[at]!.role === 'assistant' && !messages[at]!.toolPayload)
      replace(messages, at, { toolPayload: { toolCalls: [] } });
  },
  withCalls((calls) => calls.map((call) => ({ ...call, id: 'same' }))),
  withCalls((calls) => calls.map((call) => ({ ...call, id: '' }))),
  withCalls((calls) => calls.map((call) => ({ ...call, arguments: [] }))),
  withCalls((calls) => calls.map((call) => ({ ...call, arguments: null, argumentsText: '{"cut": o' }))),
  withCalls((calls) => calls.map((call) => ({ ...call, id: `${call.id}\ud83d` }))),
  withCalls((calls) => [...calls, ...calls]),
  withCalls((calls) => calls.map((call) => ({ ...call, arguments: '{"cut": "o' }))),
  withResult({ toolResult: '', toolError: null }),
  withResult({ toolResult: 1, toolError: 'both' }),
  withResult({ toolName: '' }),
  withResult({ toolCallId: 'x_y' }),
  withResult({ toolCallId: '' }),
  withResult({ toolCallId: 'a\ud83d' }),
];

export const faultyHistory: fc.Arbitrary<Message[]> = fc
  .tuple(
    richLegalHistory,
    fc.array(fc.tuple(fc.constantFrom(...FAULTS), fc.nat()), { minLength: 1, maxLength: 6 }),
  )
  .map(([legal, faults]) => {
    const messages = [...legal];
    for (const [fault, at] of faults) if (messages.length > 0) fault(messages, at % messages.length);
    return messages;
  });
