/**
 * Content blocks as the Anthropic API accepts them. What the API would reject (blank texts, foreign reasoning, odd ids)
 * is left out or fixed.
 */
import { isJsonObject, type JsonArray, type JsonObject } from '../../core/json.js';
import {
  type ContentPart,
  type Media,
  type Message,
  type ReasoningItem,
  type ToolCallSpec,
  type ToolResultPayload,
  toolCallsOf,
} from '../message.js';
import type { CallIds } from './claude-code-call-ids.js';
import { contentPartsOf, embed, missingText } from './export-media.js';
import type { ExportOptions } from './transcript-exporter.js';

/** Services that host Claude; a signature is valid at each of them. */
const SIGNERS = /anthropic|bedrock/;
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const NAME_LENGTH_MAX = 128;

export function userBlocks(message: Message, options: ExportOptions): JsonObject[] {
  return contentPartsOf(message).flatMap((part) => contentBlock(part, message, options));
}

/** Reasoning and text in order, then the calls. */
export function assistantBlocks(message: Message, ids: CallIds, options: ExportOptions): JsonObject[] {
  const calls = toolCallsOf(message).map((call) => toolUse(call, ids.called(call.id)));
  return [...userBlocks(message, options), ...calls];
}

export function toolResultBlock(
  result: ToolResultPayload,
  message: Message,
  ids: CallIds,
  options: ExportOptions,
): JsonObject {
  const text = textOfResult(result);
  const images = userBlocks({ ...message, content: null }, options);
  const content: string | JsonArray =
    images.length === 0 ? text : [...(text.trim() === '' ? [] : [textBlock(text)]), ...images];
  return {
    type: 'tool_result',
    tool_use_id: ids.answered(result.toolCallId),
    content,
    ...(result.toolError === null ? {} : { is_error: true }),
  };
}

function contentBlock(part: ContentPart, message: Message, options: ExportOptions): JsonObject[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [textBlock(part.text)];
  if (part.type === 'media') return [mediaBlock(part.media, options)];
  const signer = part.reasoning.origin?.provider ?? message.origin?.provider ?? '';
  return SIGNERS.test(signer) ? thinkingBlock(part.reasoning) : [];
}

function thinkingBlock(item: ReasoningItem): JsonObject[] {
  if (item.redacted && item.encrypted !== undefined)
    return [{ type: 'redacted_thinking', data: item.encrypted }];
  if (item.signature === undefined) return [];
  return [{ type: 'thinking', thinking: item.text ?? '', signature: item.signature }];
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text };
}

function mediaBlock(media: Media, options: ExportOptions): JsonObject {
  const embedded = embed(media, options);
  const isDocument = embedded?.mime === 'application/pdf';
  if (!embedded || !(isDocument || IMAGE_TYPES.has(embedded.mime))) return textBlock(missingText(media));
  const { url, mime } = embedded;
  const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  if (data === undefined && !url.startsWith('https://')) return textBlock(missingText(media));
  const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mime, data };
  return { type: isDocument ? 'document' : 'image', source };
}

function toolUse(call: ToolCallSpec, id: string): JsonObject {
  const input = isJsonObject(call.arguments)
    ? call.arguments
    : { _unparsed_arguments: call.argumentsText ?? call.arguments };
  const name = call.name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, NAME_LENGTH_MAX);
  return { type: 'tool_use', id, name: name === '' ? 'unknown' : name, input };
}

function textOfResult({ toolError, toolResult }: ToolResultPayload): string {
  if (toolError !== null) return toolError;
  if (typeof toolResult === 'string') return toolResult;
  return toolResult === null ? '' : JSON.stringify(toolResult);
}
