/** Tool results of stored AI SDK messages, each as its own tool message. Images inside a result become its parts. */
import { isJsonObject, type JsonArray, type JsonObject } from '../../../core/json.js';
import type { ContentPart, Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import type { OpenCalls } from '../reading/open-calls.js';
import { idText } from '../reading/record-fields.js';
import { fromAiSdkMessages } from './ai-sdk.js';
import { mediaFrom } from './ai-sdk-media.js';

export interface Reading {
  readonly losses: LossAccount;
  readonly openCalls: OpenCalls;
}

export function toolMessagesFrom(
  parts: readonly JsonObject[],
  place: string,
  { losses, openCalls }: Reading,
): Message[] {
  return parts
    .filter((part) => part['type'] === 'tool-result')
    .map((part) => {
      const id = idText(part['toolCallId']);
      const called = openCalls.answered(id);
      return toolMessage(id, idText(part['toolName']) || called, outputOf(part), place, losses);
    });
}

function toolMessage(
  id: string,
  name: string,
  output: JsonObject,
  place: string,
  losses: LossAccount,
): Message {
  const { value, media } = splitContent(output, place, losses);
  const result = { type: 'tool-result', toolCallId: id, toolName: name, output: value };
  const [read] = fromAiSdkMessages([{ role: 'tool', content: [result] }], { provider: 'unknown' });
  const isResult = read?.kind === 'result';
  return {
    role: 'tool',
    content: null,
    toolPayload: {
      toolCallId: id,
      toolName: name,
      toolResult: isResult ? read.result : null,
      toolError: isResult ? read.error : null,
    },
    ...(media.length > 0 ? { parts: media } : {}),
  };
}

/** Version 4 wrote `result` and `isError`; later versions write `output`. */
function outputOf(part: JsonObject): JsonObject {
  const { output } = part;
  if (isJsonObject(output) && typeof output['type'] === 'string') {
    const { reason } = output;
    return typeof reason === 'string' || reason === undefined ? output : { type: output['type'] };
  }
  const value = output ?? part['result'] ?? null;
  const failed = part['isError'] === true;
  return { type: failed ? 'error-json' : 'json', value };
}

interface SplitContent {
  readonly value: JsonObject;
  readonly media: readonly ContentPart[];
}

/** A result of several parts: its texts form the result, its files become parts next to it. */
function splitContent(output: JsonObject, place: string, losses: LossAccount): SplitContent {
  const { type, value } = output;
  if (type !== 'content' || !Array.isArray(value)) return { value: output, media: [] };
  const media: ContentPart[] = [];
  const others: JsonArray = [];
  for (const part of value) {
    const found = isJsonObject(part) && part['type'] !== 'text' ? mediaFrom(part) : null;
    if (found) media.push({ type: 'media', media: found });
    else others.push(part);
  }
  const texts = others.map((part) => (isJsonObject(part) && part['type'] === 'text' ? part['text'] : null));
  if (!texts.every((text) => typeof text === 'string')) return { value: { ...output, value: others }, media };
  if (texts.length > 1) losses.approximate('several texts of one tool result', place);
  return { value: { type: 'text', value: texts.length === 0 ? null : texts.join('\n') }, media };
}
