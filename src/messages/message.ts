/**
 * The neutral message: what every provider's format is projected from and every transcript is imported to.
 *
 * No provider's rule is applied here. Messages are immutable; a change makes a new one. Field names follow the
 * snapshot file, in camelCase; `message-serializer.ts` is the only place that knows both spellings.
 */
import type { JsonObject, JsonValue } from '../core/json.js';

export const MESSAGE_ROLES = ['system', 'user', 'assistant', 'tool'] as const;
export type MessageRole = (typeof MESSAGE_ROLES)[number];

/** Where something opaque comes from: it may only go back there. */
export interface Origin {
  readonly provider: string;
  readonly model?: string;
  /** Account, deployment or key scope, where the provider binds opaque items to one. */
  readonly account?: string;
}

export interface Media {
  readonly kind: 'image' | 'audio' | 'video' | 'file';
  readonly mime?: string;
  /** `sha256:<digest>` for an artifact, else a URL. */
  readonly ref: string;
  readonly bytes?: number;
  readonly width?: number;
  readonly height?: number;
  readonly name?: string;
}

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** Signed by the provider of the message (Gemini); goes back on this very part, or not at all. */
  readonly signature?: string;
}

export interface MediaPart {
  readonly type: 'media';
  readonly media: Media;
}

/** One block of the model's reasoning. A signature belongs to its text and goes back unchanged, or not at all. */
export interface ReasoningItem {
  readonly text: string | null;
  readonly signature?: string;
  readonly encrypted?: string;
  readonly redacted?: boolean;
  readonly id?: string;
  readonly origin?: Origin;
}

/** A block of reasoning whose place between the texts matters: what is signed is signed with its place. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly reasoning: ReasoningItem;
}

export type ContentPart = TextPart | MediaPart | ReasoningPart;

/** An item that only its provider understands, kept byte for byte. */
export interface ProviderItem {
  readonly origin: Origin;
  readonly item: JsonValue;
}

export interface ToolCallSpec {
  readonly id: string;
  readonly name: string;
  /** What the model's text parsed to; an object where the model did as told. */
  readonly arguments: JsonValue;
  /** The model's own text, where it says more than `arguments` (large integers, spacing, what did not parse). */
  readonly argumentsText?: string;
  /** Signed by the provider of the message (Gemini); goes back on this very call, or not at all. */
  readonly signature?: string;
  /** Fields of other tools and providers, kept. */
  readonly extra?: JsonObject;
}

export interface ToolCallPayload {
  readonly toolCalls: readonly ToolCallSpec[];
}

export interface ToolResultPayload {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The result; null when there is an error (or when the result is null). */
  readonly toolResult: JsonValue;
  readonly toolError: string | null;
  readonly extra?: JsonObject;
}

export interface Message {
  readonly role: MessageRole;
  /** The text; null when `parts` holds the content, or when there is none. */
  readonly content: string | null;
  readonly reasoningContent?: string;
  readonly imageUrls?: readonly string[];
  readonly audioUrls?: readonly string[];
  readonly videoUrls?: readonly string[];
  readonly toolPayload?: ToolCallPayload | ToolResultPayload;
  /** Several parts in order; then `content` is null. */
  readonly parts?: readonly ContentPart[];
  /** Blocks that come before the text. Where they stand between texts, they are `parts` instead. */
  readonly reasoning?: readonly ReasoningItem[];
  readonly providerItems?: readonly ProviderItem[];
  readonly origin?: Origin;
  /** Of the model response; what was appended under one id is one message. */
  readonly messageId?: string;
  readonly turnId?: string;
  /** Written by Rekindle, not said by anyone: an interrupted result, a bridge. */
  readonly synthetic?: boolean;
  /** `memory`: the summary of what a compaction took away. `recall`: passages of it that came back for a request. */
  readonly kind?: 'memory' | 'recall';
  /** From a transcript of another program: not the words of this agent's user, and trusted less. */
  readonly imported?: true;
  /** Never taken away by a compaction. */
  readonly pinned?: boolean;
  /** The answer was cut off: what was said until then. */
  readonly status?: 'aborted' | 'failed';
  /** Unknown fields of an accepted file; they survive a round trip. */
  readonly extra?: JsonObject;
}

export function isToolCallPayload(payload: Message['toolPayload']): payload is ToolCallPayload {
  return payload !== undefined && 'toolCalls' in payload;
}

export function isToolResultPayload(payload: Message['toolPayload']): payload is ToolResultPayload {
  return payload !== undefined && 'toolCallId' in payload;
}

/** The calls of a message, in order; empty for every other message. */
export function toolCallsOf(message: Message): readonly ToolCallSpec[] {
  return isToolCallPayload(message.toolPayload) ? message.toolPayload.toolCalls : [];
}

export function toolResultOf(message: Message): ToolResultPayload | null {
  return isToolResultPayload(message.toolPayload) ? message.toolPayload : null;
}

/** What a tool returned, as text: its error, else a text as it is and everything else as JSON. */
export function resultText({ toolResult, toolError }: ToolResultPayload): string {
  if (toolError !== null) return toolError;
  return typeof toolResult === 'string' ? toolResult : JSON.stringify(toolResult);
}

/** The text of a message, its parts joined; empty when it has none. */
export function textOf(message: Message): string {
  if (message.content !== null) return message.content;
  const parts = message.parts ?? [];
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

export function hasMedia(message: Message): boolean {
  const urls =
    (message.imageUrls?.length ?? 0) + (message.audioUrls?.length ?? 0) + (message.videoUrls?.length ?? 0);
  return urls > 0 || (message.parts ?? []).some((part) => part.type === 'media');
}

/** The content in order, whichever field it stands in: text, parts, then the lists of URLs. */
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

/** White space and invisible characters only: what no provider takes as text. */
export function isBlankText(text: string): boolean {
  return BLANK.test(text);
}

const BLANK = /^[\s\u200b-\u200f\u2060\ufeff]*$/;

/** No text, no calls, no media, no result, nothing of a provider's own: nothing that could be sent as a message. */
export function isBlankMessage(message: Message): boolean {
  const { toolPayload, providerItems } = message;
  if (toolPayload && !(isToolCallPayload(toolPayload) && toolPayload.toolCalls.length === 0)) return false;
  return (providerItems?.length ?? 0) === 0 && isBlankText(textOf(message)) && !hasMedia(message);
}
