/** Messages and targets that the tests of the projections share. */
import type { JsonValue } from '../../../src/core/json.js';
import type { ToolDescription } from '../../../src/core/tool-definition.js';
import type { ContentPart, Media, Message, Origin, ToolCallSpec } from '../../../src/messages/message.js';
import { pngOf } from '../media-bytes.js';

export const CLAUDE: Origin = { provider: 'anthropic', model: 'model-a' };
export const GPT: Origin = { provider: 'openai', model: 'model-b' };
export const GEMINI: Origin = { provider: 'google', model: 'gemini-3' };

/** What a shared origin makes of a target. */
export function targetOf({ provider, model }: Origin): { provider: string; model: string } {
  return { provider, model: model ?? 'any' };
}

export function callOf(id: string, more: Partial<ToolCallSpec> = {}): ToolCallSpec {
  return { id, name: 'ls', arguments: {}, ...more };
}

export function callsOf(toolCalls: readonly ToolCallSpec[], more: Partial<Message> = {}): Message {
  return { role: 'assistant', content: null, toolPayload: { toolCalls }, ...more };
}

export function resultOf(id: string, toolResult: JsonValue, more: Partial<Message> = {}): Message {
  const toolPayload = { toolCallId: id, toolName: 'ls', toolResult, toolError: null };
  return { role: 'tool', content: null, toolPayload, ...more };
}

export function errorOf(id: string, toolError: string, more: Partial<Message> = {}): Message {
  const toolPayload = { toolCallId: id, toolName: 'ls', toolResult: null, toolError };
  return { role: 'tool', content: null, toolPayload, ...more };
}

export function imagePart(media: Partial<Media> & { readonly ref: string }): ContentPart {
  return { type: 'media', media: { kind: 'image', mime: 'image/png', ...media } };
}

export function userWith(...parts: ContentPart[]): Message {
  return { role: 'user', content: null, parts };
}

export function dataUrl(bytes: Uint8Array, mime = 'image/png'): string {
  return `data:${mime};base64,${Buffer.from(bytes).toString('base64')}`;
}

/** The header of a PNG, filled up to a size. */
export function pngWith(width: number, height: number, size = 33): Uint8Array {
  const bytes = new Uint8Array(size);
  bytes.set(pngOf(width, height));
  return bytes;
}

/** Pictures that differ, each in a message of its own, with their bytes under their references. */
export function shots(
  count: number,
  sizeOf: (index: number) => readonly [number, number] = () => [800, 600],
): { readonly messages: Message[]; readonly artifacts: Map<string, Uint8Array> } {
  const artifacts = new Map<string, Uint8Array>();
  const messages = Array.from({ length: count }, (_, index): Message => {
    const ref = `sha256:${String(index).padStart(64, '0')}`;
    artifacts.set(ref, pngWith(...sizeOf(index)));
    return userWith({ type: 'text', text: `shot ${index}` }, imagePart({ ref }));
  });
  return { messages, artifacts };
}

export const LIST_FILES: ToolDescription = {
  name: 'ls',
  description: 'Lists files.',
  inputSchema: { type: 'object' },
};

/** Every text anywhere in a request, and every key. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || value instanceof URL) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}

export function countOf(request: unknown, text: string): number {
  return JSON.stringify(request).split(text).length - 1;
}

export function codesOf({ notes }: { readonly notes: readonly { readonly code: string }[] }): string[] {
  return notes.map(({ code }) => code);
}
