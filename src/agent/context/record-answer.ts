/**
 * Records the answer of a provider's client or of the AI SDK: a whole response, or a stream, which is read to
 * its end here.
 */
import type { JsonObject } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import { storeInlineMedia } from '../../memory/inline-media.js';
import { type Message, toolCallsOf } from '../../messages/message.js';
import type { TargetName } from '../../messages/projections/targets.js';
import { AnthropicStream } from '../../messages/streams/anthropic-stream.js';
import { GeminiStream } from '../../messages/streams/gemini-stream.js';
import { OpenAiChatStream } from '../../messages/streams/openai-chat-stream.js';
import { OpenAiResponsesStream } from '../../messages/streams/openai-responses-stream.js';
import type { ResponseStream } from '../../messages/streams/response-stream.js';
import { isAsyncIterable } from '../tools/guard-tools.js';
import { type Answer, keepPartial, noAnswer, type RecordedAnswer, shownChunks, viewOf } from './answer.js';
import { PROVIDERS, readAll } from './host-reading.js';
import { type AiSdkResult, recordAiSdk } from './record-ai-sdk.js';

type ProviderName = Exclude<TargetName, 'ai-sdk'>;

/** A check that every answer of the target passes. */
const ANSWERS: Readonly<Record<ProviderName, (response: JsonObject) => boolean>> = {
  'openai-chat': ({ choices }) => Array.isArray(choices),
  'openai-responses': ({ output }) => Array.isArray(output),
  anthropic: ({ content }) => Array.isArray(content),
  gemini: ({ candidates }) => Array.isArray(candidates),
};

/** Fields that name the model. */
const MODEL_FIELDS = ['model', 'modelVersion'];

export async function recordAnswer(answer: Answer): Promise<RecordedAnswer> {
  const response: unknown = await answer.response; // clients return promises of streams
  if (typeof response !== 'object' || response === null) throw noAnswer(answer.target, 'it is not an object');
  const { target } = answer;
  return answer.turn.answerOnce(response, () => {
    if (target === 'ai-sdk') return recordAiSdk(answer, response as AiSdkResult);
    if (isAsyncIterable(response)) return recordStream(answer, target, response);
    return recordWhole(answer, target, toJsonValue(response).value as JsonObject);
  });
}

async function recordWhole(
  answer: Answer,
  target: ProviderName,
  response: JsonObject,
): Promise<RecordedAnswer> {
  if (!ANSWERS[target](response)) throw noAnswer(target, 'it has another shape');
  const messages = messagesIn(answer, target, response);
  if (!messages.some(({ role }) => role === 'assistant'))
    throw noAnswer(target, 'it contains no message of the model');
  return keep(answer, messages);
}

async function recordStream(
  answer: Answer,
  target: ProviderName,
  stream: AsyncIterable<unknown>,
): Promise<RecordedAnswer> {
  const seen = streamOf(target, stream);
  let broken: { readonly thrown: unknown } | null = null;
  try {
    for await (const { chunk, json } of shownChunks(answer, stream, (shown) => seen.textIn(shown))) {
      if (json) seen.add(json);
      await answer.options.onChunk?.(chunk);
    }
  } catch (thrown) {
    broken = { thrown };
  }
  if (seen.isFinished && !broken) return recordWhole(answer, target, seen.response());
  const said = messagesIn(answer, target, seen.response()).filter(({ role }) => role === 'assistant');
  const kept = await keepPartial(answer, said);
  if (broken) throw broken.thrown;
  return kept;
}

function streamOf(target: ProviderName, stream: object): ResponseStream {
  if (target === 'openai-chat') return new OpenAiChatStream();
  if (target === 'openai-responses') return new OpenAiResponsesStream();
  return target === 'gemini' ? new GeminiStream() : new AnthropicStream('finalMessage' in stream);
}

function messagesIn({ origin, toolNames }: Answer, target: ProviderName, response: JsonObject): Message[] {
  const model = MODEL_FIELDS.map((field) => response[field]).find((value) => typeof value === 'string');
  const provider = origin ?? { provider: PROVIDERS[target] };
  const own = { ...provider, ...(typeof model === 'string' && !origin?.model ? { model } : {}) };
  return readAll([response], { format: target, origin: own }).map((message) =>
    withOwnNames(message, toolNames),
  );
}

/** Restores the tools' own names: a request may have had to spell them differently. */
function withOwnNames(message: Message, toolNames: ReadonlyMap<string, string>): Message {
  const calls = toolCallsOf(message);
  if (!calls.some(({ name }) => toolNames.has(name))) return message;
  const toolCalls = calls.map((call) => ({ ...call, name: toolNames.get(call.name) ?? call.name }));
  return { ...message, toolPayload: { toolCalls } };
}

async function keep(answer: Answer, messages: readonly Message[]): Promise<RecordedAnswer> {
  const { turn, memory } = answer;
  const stored = await Promise.all(messages.map((message) => storeInlineMedia(message, memory.blobs)));
  const calls = await turn.record(stored.filter(isSaid));
  return viewOf(memory, calls, messages);
}

/** A response without content is not a message. */
function isSaid(message: Message): boolean {
  const { content, parts, reasoning, reasoningContent, providerItems, toolPayload } = message;
  return Boolean(
    content || parts?.length || reasoning?.length || reasoningContent || providerItems?.length || toolPayload,
  );
}
