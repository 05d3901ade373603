/**
 * Messages as `ModelMessage`s of the Vercel AI SDK. Pure, deterministic, never written back.
 *
 * The types here are structural, so that this file needs no package; a type test holds them against the SDK's own. Results of one
 * block share one `tool` message. Signed reasoning goes back only to the provider it came from.
 */
import { isJsonObject, type JsonValue } from '../../core/json.js';
import { type AiSdkProviderOptions, callOptionsOf, reasoningOptionsOf } from '../ai-sdk-metadata.js';
import {
  type ContentPart,
  isBlankMessage,
  type Media,
  type Message,
  type ToolCallSpec,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../message.js';

export interface AiSdkTextPart {
  type: 'text';
  text: string;
}

export interface AiSdkReasoningPart {
  type: 'reasoning';
  text: string;
  providerOptions?: AiSdkProviderOptions;
}

export interface AiSdkFilePart {
  type: 'file';
  data: Uint8Array | URL;
  mediaType: string;
  filename?: string;
}

export interface AiSdkImagePart {
  type: 'image';
  image: Uint8Array | URL;
  mediaType?: string;
}

export interface AiSdkToolCallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: JsonValue;
  providerOptions?: AiSdkProviderOptions;
}

export type AiSdkToolOutput =
  | { type: 'text'; value: string }
  | { type: 'json'; value: JsonValue }
  | { type: 'error-text'; value: string };

export interface AiSdkToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: AiSdkToolOutput;
}

export type AiSdkMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | (AiSdkTextPart | AiSdkImagePart | AiSdkFilePart)[] }
  | { role: 'assistant'; content: string | (AiSdkTextPart | AiSdkReasoningPart | AiSdkToolCallPart)[] }
  | { role: 'tool'; content: AiSdkToolResultPart[] };

export interface AiSdkTarget {
  /** Gets its own signed reasoning back; that of others is left out. */
  readonly provider?: string;
  /** Bytes of artifacts by their `sha256:` reference; a medium without them becomes a line of text. */
  readonly artifacts?: ReadonlyMap<string, Uint8Array>;
}

export function toAiSdkMessages(messages: readonly Message[], target: AiSdkTarget = {}): AiSdkMessage[] {
  const out: AiSdkMessage[] = [];
  for (const message of messages) {
    const result = toolResultPart(message);
    const last = out[out.length - 1];
    if (result) {
      if (last?.role === 'tool') last.content.push(result);
      else out.push({ role: 'tool', content: [result] });
      continue;
    }
    const projected = projectOne(message, target);
    if (projected) out.push(projected);
  }
  return out;
}

function projectOne(message: Message, target: AiSdkTarget): AiSdkMessage | null {
  if (message.role === 'system') return { role: 'system', content: textOf(message) };
  if (isBlankMessage(message)) return null;
  if (message.role === 'user') return { role: 'user', content: userContent(message, target) };
  return message.role === 'assistant'
    ? { role: 'assistant', content: assistantContent(message, target) }
    : null;
}

function userContent(
  message: Message,
  target: AiSdkTarget,
): string | (AiSdkTextPart | AiSdkImagePart | AiSdkFilePart)[] {
  const urls = (kind: Media['kind'], list: readonly string[] | undefined): Media[] =>
    (list ?? []).map((ref) => ({ kind, ref }));
  const media = [
    ...urls('image', message.imageUrls),
    ...urls('audio', message.audioUrls),
    ...urls('video', message.videoUrls),
  ];
  if (!message.parts && media.length === 0) return message.content ?? '';
  const text: ContentPart[] = message.content === null ? [] : [{ type: 'text', text: message.content }];
  const parts = [
    ...text,
    ...(message.parts ?? []),
    ...media.map((item) => ({ type: 'media' as const, media: item })),
  ];
  return parts
    .filter((part) => part.type !== 'reasoning')
    .filter((part) => part.type !== 'text' || part.text.trim() !== '') // no provider takes a blank part
    .map((part) =>
      part.type === 'text' ? { type: 'text', text: part.text } : mediaPart(part.media, target),
    );
}

function mediaPart(media: Media, target: AiSdkTarget): AiSdkTextPart | AiSdkImagePart | AiSdkFilePart {
  const data = media.ref.startsWith('sha256:') ? target.artifacts?.get(media.ref) : urlOf(media.ref);
  if (!data) return { type: 'text', text: `[${media.kind} not available: ${media.name ?? media.ref}]` };
  if (media.kind === 'image')
    return { type: 'image', image: data, ...(media.mime === undefined ? {} : { mediaType: media.mime }) };
  const mediaType = media.mime ?? 'application/octet-stream';
  return { type: 'file', data, mediaType, ...(media.name === undefined ? {} : { filename: media.name }) };
}

function urlOf(ref: string): URL | undefined {
  return URL.canParse(ref) ? new URL(ref) : undefined;
}

function assistantContent(
  message: Message,
  target: AiSdkTarget,
): string | (AiSdkTextPart | AiSdkReasoningPart | AiSdkToolCallPart)[] {
  const calls = toolCallsOf(message);
  const reasoning = reasoningParts(message, target);
  const text = textOf(message);
  if (calls.length === 0 && reasoning.length === 0) return text;
  return [
    ...reasoning,
    ...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map((call) => callPart(call, message, target)),
  ];
}

/** Providers take an object only: what else the model wrote is shown in one. */
function callPart(call: ToolCallSpec, message: Message, target: AiSdkTarget): AiSdkToolCallPart {
  const input = isJsonObject(call.arguments)
    ? call.arguments
    : { _unparsed_arguments: call.argumentsText ?? call.arguments };
  const foreign = message.origin !== undefined && message.origin.provider !== target.provider;
  const options = foreign ? undefined : callOptionsOf(call, message);
  return {
    type: 'tool-call',
    toolCallId: call.id,
    toolName: call.name,
    input,
    ...(options ? { providerOptions: options } : {}),
  };
}

function reasoningParts(message: Message, target: AiSdkTarget): AiSdkReasoningPart[] {
  const { provider } = target;
  if (provider === undefined) return [];
  return (message.reasoning ?? [])
    .filter((item) => [item.origin?.provider, message.origin?.provider].includes(provider))
    .filter((item) => item.text !== null || item.redacted)
    .map((item) => {
      const options = reasoningOptionsOf(item, provider);
      return { type: 'reasoning', text: item.text ?? '', ...(options ? { providerOptions: options } : {}) };
    });
}

function toolResultPart(message: Message): AiSdkToolResultPart | null {
  const result = toolResultOf(message);
  if (!result) return null;
  return {
    type: 'tool-result',
    toolCallId: result.toolCallId,
    toolName: result.toolName,
    output: outputOf(result),
  };
}

function outputOf(result: NonNullable<ReturnType<typeof toolResultOf>>): AiSdkToolOutput {
  if (result.toolError !== null) return { type: 'error-text', value: result.toolError };
  if (typeof result.toolResult === 'string') return { type: 'text', value: result.toolResult };
  return { type: 'json', value: result.toolResult };
}
