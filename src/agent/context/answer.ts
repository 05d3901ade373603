/** The answer of a model as a host hands it over, and as it is recorded. */
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import type { AnswerPart } from '../../memory/store/answer-parts.js';
import { isBlankText, type Message, type Origin, textOf, toolResultOf } from '../../messages/message.js';
import type { TargetName } from '../../messages/projections/targets.js';
import { durableStream } from '../model/durable-stream.js';
import type { HostCall } from '../tools/run-host-call.js';
import type { HostMessage } from './host-message.js';
import type { HostTurn } from './host-turn.js';

/** Options of `recordResponse`. */
export interface RecordOptions {
  /**
   * Called with each chunk of a stream, to display it, once its text is durable. An error that it throws ends
   * the reading, like a broken stream.
   */
  readonly onChunk?: (chunk: unknown) => void | Promise<void>;
}

/** A stream of a provider's client, or the result of the AI SDK's `streamText`; or a promise of it. */
export type StreamedResponse<Chunk> =
  | AsyncIterable<Chunk>
  | { readonly fullStream: AsyncIterable<Chunk> }
  | Promise<AsyncIterable<Chunk>>;

/** An answer as it was recorded. */
export interface RecordedAnswer {
  readonly text: string;
  /** Calls without a result, with the ids that `runTool` needs. */
  readonly toolCalls: readonly HostCall[];
  /** The message in the context; null for an empty answer. `status: 'aborted'` when it ended too early. */
  readonly message: Message | null;
}

/** A chunk of a stream, and what it is in JSON; null if it is not an object. */
export interface ReadChunk {
  readonly chunk: unknown;
  readonly json: JsonObject | null;
}

/** The chunks of a stream as they may be shown: durable first, if they are shown at all. */
export function shownChunks(
  { turn, memory, options, origin }: Answer,
  stream: AsyncIterable<unknown>,
  textIn: (chunk: JsonObject) => AnswerPart,
): AsyncIterable<ReadChunk> {
  const chunks = readChunks(stream);
  if (!options.onChunk) return chunks;
  return durableStream(chunks, memory.answerParts.begin(turn.turnId, origin), ({ json }) => {
    const part = json ? textIn(json) : {};
    return Object.keys(part).length > 0 ? part : null;
  });
}

async function* readChunks(stream: AsyncIterable<unknown>): AsyncGenerator<ReadChunk> {
  for await (const chunk of stream) {
    const json = toJsonValue(chunk).value;
    yield { chunk, json: isJsonObject(json) ? json : null };
  }
}

export interface Answer {
  readonly turn: HostTurn;
  readonly memory: MemoryManager;
  readonly target: TargetName;
  readonly response: object;
  readonly toolNames: ReadonlyMap<string, string>;
  /** The provider and model that answered, if the host gave them. */
  readonly origin: Origin | null;
  readonly options: RecordOptions;
  /** Takes in a list as `endTurn` does. */
  readonly ingest: (list: readonly HostMessage[]) => Promise<void>;
}

/**
 * Keeps the text of an answer that was cut off. Unfinished calls and reasoning are dropped: no listener
 * received them.
 */
export async function keepPartial(
  { turn, memory }: Pick<Answer, 'turn' | 'memory'>,
  said: readonly Message[],
): Promise<RecordedAnswer> {
  const text = said.map(textOf).join('');
  const origin = said[0]?.origin;
  const message: Message = {
    role: 'assistant',
    content: text,
    status: 'aborted',
    ...(origin ? { origin } : {}),
  };
  if (isBlankText(text)) return { text, toolCalls: [], message: null };
  await turn.record([message]);
  return viewOf(memory, [], [message]);
}

/** @param messages the messages recorded now; default: the end of the context */
export function viewOf(
  memory: MemoryManager,
  calls: readonly HostCall[],
  messages?: readonly Message[],
): RecordedAnswer {
  const last = memory.context.messages.findLast((message) => toolResultOf(message) === null);
  const message = last?.role === 'assistant' ? last : null;
  const said = (messages ?? (message ? [message] : [])).filter(({ role }) => role === 'assistant');
  return {
    text: said.map(textOf).join(''),
    toolCalls: calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    message,
  };
}

export function noAnswer(target: TargetName, why: string): RekindleError {
  return new RekindleError('MESSAGE_INVALID', `This is not an answer from ${target}: ${why}.`, {
    details: { target, reason: why },
  });
}
