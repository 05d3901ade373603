/** Tool results as Anthropic writes them: blocks of a user message, with a text or a list of texts and images. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { type ContentPart, isBlankText, type Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { jsonTextOf } from '../reading/json-text.js';
import type { OpenCalls } from '../reading/open-calls.js';
import { idText, textField } from '../reading/record-fields.js';
import { isMediaBlock, mediaPartsFrom } from './anthropic-media.js';

const SILENT_FAILURE = 'The tool failed without a message.';

export function resultMessageFrom(
  block: JsonObject,
  place: string,
  openCalls: OpenCalls,
  losses: LossAccount,
): Message {
  const toolCallId = idText(block['tool_use_id']);
  const { result, media } = contentFrom(block['content'], place, losses);
  const failed = block['is_error'] === true;
  const error = typeof result === 'string' ? result : jsonTextOf(result);
  return {
    role: 'tool',
    content: null,
    ...(media.length > 0 ? { parts: media } : {}),
    toolPayload: {
      toolCallId,
      toolName: openCalls.answered(toolCallId),
      toolResult: failed ? null : result,
      toolError: failed ? (isBlankText(error) ? SILENT_FAILURE : error) : null,
    },
  };
}

interface ResultContent {
  readonly result: JsonValue;
  readonly media: ContentPart[];
}

function contentFrom(content: JsonValue | undefined, place: string, losses: LossAccount): ResultContent {
  if (!Array.isArray(content)) return { result: content ?? '', media: [] };
  const texts: string[] = [];
  const media: ContentPart[] = [];
  for (const block of content) {
    for (const part of partsFrom(block, place, losses)) {
      if (part.type === 'text') texts.push(part.text);
      else media.push(part);
    }
  }
  if (texts.length > 1) losses.approximate('tool result of several texts, joined by newlines', place);
  return { result: texts.join('\n'), media };
}

/** Anything else (a reference to a tool, a search result) stays readable as JSON. */
function partsFrom(block: JsonValue, place: string, losses: LossAccount): ContentPart[] {
  if (typeof block === 'string') return [{ type: 'text', text: block }];
  const text = isJsonObject(block) ? textField(block, 'text') : undefined;
  if (text !== undefined) return [{ type: 'text', text }];
  const media = isJsonObject(block) && isMediaBlock(block) ? mediaPartsFrom(block, place, losses) : [];
  if (media.length > 0) return media;
  losses.approximate('block of a tool result, kept as JSON text', place);
  return [{ type: 'text', text: jsonTextOf(block) }];
}
