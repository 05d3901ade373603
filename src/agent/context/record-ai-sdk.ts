/**
 * Records the result of the AI SDK's `generateText` or `streamText`. A stream is read in parallel with the
 * host, so that an abort keeps the text shown so far and all completed steps.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import type { AnswerPart } from '../../memory/store/answer-parts.js';
import { streamedText } from '../../messages/streams/response-stream.js';
import { AiSdkSteps } from './ai-sdk-steps.js';
import {
  type Answer,
  keepPartial,
  noAnswer,
  type ReadChunk,
  type RecordedAnswer,
  shownChunks,
  viewOf,
} from './answer.js';
import type { HostMessage, HostStep } from './host-message.js';

export interface AiSdkResult {
  /** Of `streamText`: each reader gets its own stream. */
  readonly fullStream?: AsyncIterable<unknown>;
  readonly steps?: PromiseLike<readonly HostStep[]> | readonly HostStep[];
}

export async function recordAiSdk(answer: Answer, result: AiSdkResult): Promise<RecordedAnswer> {
  const { turn, memory, ingest } = answer;
  if (result.steps === undefined) throw noAnswer('ai-sdk', 'it has no `steps`');
  const seen = new AiSdkSteps();
  const failed = result.fullStream
    ? await readThrough(
        shownChunks(answer, result.fullStream, (part) => textIn(part, memory)),
        seen,
        answer.options.onChunk,
      )
    : null;
  const steps = await stepsOf(result.steps, failed !== null);
  const lists = steps ? steps.map(({ response }) => response.messages) : seen.messages;
  for (const list of lists) await ingest(list as readonly HostMessage[]);
  const origin = answer.origin ?? { provider: 'ai-sdk' };
  const partial = await keepPartial(answer, [{ role: 'assistant', content: seen.text, origin }]);
  if (failed) throw failed.thrown;
  return partial.message ? partial : viewOf(memory, turn.openCalls());
}

/** The error that broke the stream; null when it ended, also by an abort. */
async function readThrough(
  stream: AsyncIterable<ReadChunk>,
  seen: AiSdkSteps,
  onChunk: Answer['options']['onChunk'],
): Promise<{ readonly thrown: unknown } | null> {
  let failed: { readonly thrown: unknown } | null = null;
  try {
    for await (const { chunk, json } of stream) {
      if (json) seen.add(json);
      const { type, error } = (chunk ?? {}) as { type?: unknown; error?: unknown };
      if (type === 'error') failed = { thrown: errorOf(error) };
      await onChunk?.(chunk);
    }
    return failed;
  } catch (thrown) {
    return { thrown };
  }
}

/** Each step is an answer of its own. */
function textIn({ type, text }: JsonObject, memory: MemoryManager): AnswerPart {
  if (type === 'start-step') return { begins: memory.answerParts.lastTrace };
  return streamedText(
    type === 'text-delta' ? text : undefined,
    type === 'reasoning-delta' ? text : undefined,
  );
}

function errorOf(given: unknown): unknown {
  if (given instanceof Error) return given;
  const json = toJsonValue(given).value;
  const text =
    isJsonObject(json) && typeof json['message'] === 'string' ? json['message'] : JSON.stringify(json);
  return new Error(text, { cause: given });
}

/**
 * Null if there are none. After a broken stream, or without a completed step, the promise may never settle.
 */
async function stepsOf(
  steps: NonNullable<AiSdkResult['steps']>,
  isBroken: boolean,
): Promise<readonly HostStep[] | null> {
  const whole = Promise.resolve(steps).catch(() => null);
  return isBroken ? Promise.race([whole, nextTick(null)]) : whole;
}
