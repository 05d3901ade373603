/** Random messages and histories, in the normal form that the serializer gives back. */
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import type { Message, ToolCallSpec } from '../../src/messages/message.js';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', ' ', '\u2028', '"\\\n'),
);
const name = fc.constantFrom('search', 'read_file', 'send-mail', 'toString');

/** Any JSON value, as `JSON.parse` gives it. */
export const jsonValue: fc.Arbitrary<JsonValue> = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);

/** Fields of other tools; also such that other objects have by nature. */
const extra: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.constantFrom('x_vendor', 'constructor', '__proto__', 'nativeToolCallContext'), jsonValue, {
    minKeys: 1,
    maxKeys: 2,
  })
  .map((fields) => JSON.parse(JSON.stringify(fields)) as JsonObject);

const origin = fc.record(
  { provider: name, model: name, account: name },
  { requiredKeys: ['provider'], noNullPrototype: true },
);

const media = fc.record(
  {
    kind: fc.constantFrom('image', 'audio', 'video', 'file'),
    mime: fc.constant('image/png'),
    ref: fc.constantFrom('https://example.com/a.png', `sha256:${'a'.repeat(64)}`),
    bytes: fc.nat(),
    width: fc.nat(),
    height: fc.nat(),
    name: text,
  },
  { requiredKeys: ['kind', 'ref'], noNullPrototype: true },
);

const parts = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('text'), text }, { noNullPrototype: true }),
    fc.record({ type: fc.constant('media'), media }, { noNullPrototype: true }),
  ),
  { minLength: 1, maxLength: 3 },
);

const reasoning = fc.array(
  fc.record(
    {
      text: fc.option(text),
      signature: fc.string(),
      encrypted: fc.string(),
      redacted: fc.boolean(),
      id: fc.string(),
      origin,
    },
    { requiredKeys: ['text'], noNullPrototype: true },
  ),
  { minLength: 1, maxLength: 2 },
);

export const toolCall: fc.Arbitrary<ToolCallSpec> = fc.record(
  {
    id: fc.string({ minLength: 1 }),
    name,
    arguments: jsonValue.filter((value) => value !== null),
    argumentsText: text,
    extra,
  },
  { requiredKeys: ['id', 'name', 'arguments'], noNullPrototype: true },
);

const callPayload = fc.record({ toolCalls: fc.array(toolCall, { maxLength: 3 }) }, { noNullPrototype: true });

const resultPayload = fc
  .tuple(fc.string({ minLength: 1 }), name, jsonValue, fc.option(text), fc.option(extra))
  .map(([toolCallId, toolName, toolResult, toolError, more]) => ({
    toolCallId,
    toolName,
    toolResult: toolError === null ? toolResult : null,
    toolError,
    ...(more === null ? {} : { extra: more }),
  }));

const urls = fc.array(fc.webUrl(), { minLength: 1, maxLength: 2 });
const yes = fc.constant(true);

/** A payload belongs to one role. */
function inItsRole(given: Message): Message {
  const { toolPayload } = given;
  return toolPayload ? { ...given, role: 'toolCalls' in toolPayload ? 'assistant' : 'tool' } : given;
}

/** Every field, in every combination. */
export const message: fc.Arbitrary<Message> = (
  fc.record(
    {
      role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
      content: fc.option(text),
      reasoningContent: text,
      imageUrls: urls,
      audioUrls: urls,
      videoUrls: urls,
      toolPayload: fc.oneof(callPayload, resultPayload),
      parts,
      reasoning,
      providerItems: fc.array(fc.record({ origin, item: jsonValue }, { noNullPrototype: true }), {
        minLength: 1,
        maxLength: 2,
      }),
      origin,
      messageId: fc.string(),
      turnId: fc.string(),
      synthetic: yes,
      kind: fc.constant('memory'),
      pinned: yes,
      status: fc.constantFrom('aborted', 'failed'),
      extra,
    },
    { requiredKeys: ['role', 'content'], noNullPrototype: true },
  ) as fc.Arbitrary<Message>
).map(inItsRole);

export function user(content: string): Message {
  return { role: 'user', content };
}

export function assistant(content: string): Message {
  return { role: 'assistant', content };
}

export function calls(...ids: string[]): Message {
  return {
    role: 'assistant',
    content: null,
    toolPayload: { toolCalls: ids.map((id) => ({ id, name: `tool_${id}`, arguments: {} })) },
  };
}

export function result(id: string, value: JsonValue = `result of ${id}`): Message {
  return {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: id, toolName: `tool_${id}`, toolResult: value, toolError: null },
  };
}

export function syntheticResult(id: string): Message {
  return {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: id, toolName: `tool_${id}`, toolResult: null, toolError: 'unknown' },
    synthetic: true,
  };
}

/** A legal block: calls with distinct ids (used again in other blocks), and all results in order. */
const block: fc.Arbitrary<Message[]> = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c', 'call_0'), { minLength: 1, maxLength: 4 })
  .map((ids) => [calls(...ids), ...ids.map((id) => result(id))]);

const plain: fc.Arbitrary<Message[]> = fc.oneof(
  fc.string().map((content) => [user(content)]),
  fc.string().map((content) => [assistant(content)]),
);

/** A history that breaks no rule. */
export const legalHistory: fc.Arbitrary<Message[]> = fc
  .array(fc.oneof(plain, block), { maxLength: 12 })
  .map((blocks) => blocks.flat());

const loose: fc.Arbitrary<Message> = fc.oneof(
  fc.constantFrom('a', 'b', 'c').map((id) => result(id)),
  fc.constantFrom('a', 'b', 'c').map(syntheticResult),
  fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 }).map((ids) => calls(...ids)),
  fc.string().map(user),
  fc.string().map(assistant),
);

/** Any order of calls, results and text: most of them break rules. */
export const anyHistory: fc.Arbitrary<Message[]> = fc.oneof(
  fc.array(loose, { maxLength: 16 }),
  legalHistory.chain((messages) => fc.shuffledSubarray(messages)),
  legalHistory.chain((messages) => fc.subarray(messages)),
);
