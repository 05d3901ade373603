/**
 * The neutral message: every provider's format is projected from it, and every transcript is imported to it.
 *
 * No provider's rule is applied here. Messages are immutable; a change makes a new one. Field names follow the snapshot
 * file, in camelCase. Only `message-serializer.ts` knows both spellings.
 */
import type { JsonObject, JsonValue } from '../core/json.js';

/** The four roles of a message. */
export const MESSAGE_ROLES = ['system', 'user', 'assistant', 'tool'] as const;
/** The role of a message. Providers' other names (`developer`, `model`, `function`) are mapped to these. */
export type MessageRole = (typeof MESSAGE_ROLES)[number];

/** The source of something opaque, which may be sent back only to that source. */
export interface Origin {
  readonly provider: string;
  readonly model?: string;
  /** Account, deployment or key scope, if the provider binds opaque items to one. */
  readonly account?: string;
}

/** An image, a sound, a video or a file: a reference, not the bytes. */
export interface Media {
  readonly kind: 'image' | 'audio' | 'video' | 'file';
  readonly mime?: string;
  /** `sha256:<digest>` for a stored artifact, else a URL. */
  readonly ref: string;
  readonly bytes?: number;
  readonly width?: number;
  readonly height?: number;
  readonly name?: string;
}

/** A text among the parts of a message. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** Signed by the message's provider (Gemini). Sent back with exactly this part, or not at all. */
  readonly signature?: string;
}

/** A media item among the parts of a message. */
export interface MediaPart {
  readonly type: 'media';
  readonly media: Media;
}

/** One block of the model's reasoning. A signature belongs to its text; both are sent back unchanged, or not at all. */
export interface ReasoningItem {
  readonly text: string | null;
  readonly signature?: string;
  readonly encrypted?: string;
  readonly redacted?: boolean;
  readonly id?: string;
  readonly origin?: Origin;
}

/** A block of reasoning whose position between the texts matters: the signature covers the position. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly reasoning: ReasoningItem;
}

/** One part of a message's content. A message with parts has `content: null`. */
export type ContentPart = TextPart | MediaPart | ReasoningPart;

/** An item that only its provider understands, kept unchanged. */
export interface ProviderItem {
  readonly origin: Origin;
  readonly item: JsonValue;
}

/** One tool call of the model. */
export interface ToolCallSpec {
  readonly id: string;
  readonly name: string;
  /** The parsed arguments. An object, unless the model wrote something else. */
  readonly arguments: JsonValue;
  /** The model's own text, if it holds more than `arguments` (large integers, spacing, text that could not be parsed). */
  readonly argumentsText?: string;
  /** Signed by the message's provider (Gemini). Sent back with exactly this call, or not at all. */
  readonly signature?: string;
  /** Fields of other tools and providers, kept unchanged. */
  readonly extra?: JsonObject;
}

/** The calls of an assistant message, in order. */
export interface ToolCallPayload {
  readonly toolCalls: readonly ToolCallSpec[];
}

/** The outcome of one call, in a message with the role `tool`. */
export interface ToolResultPayload {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The result; null if there is an error, or if the result itself is null. */
  readonly toolResult: JsonValue;
  readonly toolError: string | null;
  readonly extra?: JsonObject;
}

/**
 * One message of a conversation, independent of any provider.
 * ```ts
 * const message: Message = { role: 'user', content: 'Hello' };
 * ```
 */
export interface Message {
  readonly role: MessageRole;
  /** The text; null if `parts` holds the content, or if there is none. */
  readonly content: string | null;
  readonly reasoningContent?: string;
  readonly imageUrls?: readonly string[];
  readonly audioUrls?: readonly string[];
  readonly videoUrls?: readonly string[];
  readonly toolPayload?: ToolCallPayload | ToolResultPayload;
  /** Several parts in order; `content` is null then. */
  readonly parts?: readonly ContentPart[];
  /** Reasoning before the text. Reasoning between texts is in `parts` instead. */
  readonly reasoning?: readonly ReasoningItem[];
  readonly providerItems?: readonly ProviderItem[];
  readonly origin?: Origin;
  /** Id of the model response. Messages appended under one id are one message. */
  readonly messageId?: string;
  readonly turnId?: string;
  /** Written by Rekindle and not by a person or a model: the result of an interrupted call, or a bridge. */
  readonly synthetic?: boolean;
  /** `memory`: the summary of compacted messages. `recall`: compacted passages that were brought back for a request. */
  readonly kind?: 'memory' | 'recall';
  /** From another program's transcript. These are not the words of this agent's user, so they are trusted less. */
  readonly imported?: true;
  /** Never removed by a compaction. */
  readonly pinned?: boolean;
  /** The answer was cut off; the message holds what had arrived. */
  readonly status?: 'aborted' | 'failed';
  /** Unknown fields of an accepted file. They survive a round trip. */
  readonly extra?: JsonObject;
}

export function isToolCallPayload(payload: Message['toolPayload']): payload is ToolCallPayload {
  return payload !== undefined && 'toolCalls' in payload;
}

export function isToolResultPayload(payload: Message['toolPayload']): payload is ToolResultPayload {
  return payload !== undefined && 'toolCallId' in payload;
}

/** The calls of a message, in order; empty for other messages. */
export function toolCallsOf(message: Message): readonly ToolCallSpec[] {
  return isToolCallPayload(message.toolPayload) ? message.toolPayload.toolCalls : [];
}

/** The tool result of a message; null for other messages. */
export function toolResultOf(message: Message): ToolResultPayload | null {
  return isToolResultPayload(message.toolPayload) ? message.toolPayload : null;
}

/** A tool's output as text: its error; else the text itself, or the value as JSON. */
export function resultText({ toolResult, toolError }: ToolResultPayload): string {
  if (toolError !== null) return toolError;
  return typeof toolResult === 'string' ? toolResult : JSON.stringify(toolResult);
}

/** The text of a message, with its parts joined; empty if it has none. Text of both fields counts: foreign messages may have both. */
export function textOf({ content, parts = [] }: Message): string {
  if (parts.length === 0) return content ?? '';
  return (content ?? '') + parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Whether the message holds an image, a sound, a video or a file. */
export function hasMedia(message: Message): boolean {
  const urls =
    (message.imageUrls?.length ?? 0) + (message.audioUrls?.length ?? 0) + (message.videoUrls?.length ?? 0);
  return urls > 0 || (message.parts ?? []).some((part) => part.type === 'media');
}

/** The content in order, from every field that can hold it: text, parts, then the URL lists. */
export function partsOf(message: Message): ContentPart[] {
  const text: ContentPart[] = message.content === null ? [] : [{ type: 'text', text: message.content }];
  return [...text, ...(message.parts ?? []), ...urlMedia(message).map(mediaPart)];
}

export function mediaOf(message: Message): Media[] {
  if (!hasMedia(message)) return [];
  return partsOf(message).flatMap((part) => (part.type === 'media' ? [part.media] : []));
}

function mediaPart(media: Media): MediaPart {
  return { type: 'media', media };
}

function urlMedia(message: Message): Media[] {
  const listed = (kind: Media['kind'], urls: readonly string[] = []): Media[] =>
    urls.map((ref) => ({ kind, ref }));
  return [
    ...listed('image', message.imageUrls),
    ...listed('audio', message.audioUrls),
    ...listed('video', message.videoUrls),
  ];
}

/** Only white space and invisible characters, which no provider accepts as text. */
export function isBlankText(text: string): boolean {
  return BLANK.test(text);
}

const BLANK = /^[\s\u200b-\u200f\u2060\ufeff]*$/;

/** No text, calls, media, result or provider items: nothing that could be sent. */
export function isBlankMessage(message: Message): boolean {
  const { toolPayload, providerItems } = message;
  if (toolPayload && !(isToolCallPayload(toolPayload) && toolPayload.toolCalls.length === 0)) return false;
  return (providerItems?.length ?? 0) === 0 && isBlankText(textOf(message)) && !hasMedia(message);
}
