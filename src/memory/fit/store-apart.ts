/** Stores large results separately: the whole text becomes an artifact, and the context holds its head and tail. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { ContentPart, Message, ToolResultPayload } from '../../messages/message.js';
import type { Blobs } from '../../storage/ports.js';
import {
  charsWithin,
  headAndTail,
  isStoredText,
  type StoredText,
  shortenText,
  storeText,
} from './left-out.js';

export interface Result {
  readonly result: ToolResultPayload;
  readonly parts?: Message['parts'];
}

/**
 * @param maxBytes of a text, in UTF-8. Returns the same object if no text is larger. The artifact is durable when it
 * resolves (see `storeText`).
 */
export async function storeLargeResult<R extends Result>(
  given: R,
  maxBytes: number,
  blobs: Blobs | null,
): Promise<R> {
  const { result, parts } = given;
  const text = result.toolError ?? textOfValue(result.toolResult);
  // Values of another type are rejected when the result is recorded.
  const isLarge = typeof text === 'string' && charsWithin(text, maxBytes) !== null;
  const largeParts = Array.isArray(parts) && parts.some((part) => isLargeText(part, maxBytes));
  if (!isLarge && !largeParts) return given;
  const smaller = isLarge ? await shortenResult(result, text, maxBytes, blobs) : result;
  return {
    ...given,
    result: smaller,
    ...(parts ? { parts: await shortenParts(parts, maxBytes, blobs) } : {}),
  };
}

async function shortenResult(
  result: ToolResultPayload,
  text: string,
  maxBytes: number,
  blobs: Blobs | null,
): Promise<ToolResultPayload> {
  const stored = await storeText(text, blobs);
  const shown = headAndTail(text, stored, charsWithin(text, maxBytes)!);
  const isError = result.toolError !== null;
  return {
    ...result,
    toolResult: isError ? null : shown,
    toolError: isError ? shown : null,
    extra: { ...result.extra, stored: storedJson(stored) },
  };
}

export async function shortenParts(
  parts: readonly ContentPart[],
  maxBytes: number,
  blobs: Blobs | null,
): Promise<ContentPart[]> {
  const shortened: ContentPart[] = [];
  for (const part of parts) {
    if (!isLargeText(part, maxBytes)) shortened.push(part);
    else shortened.push({ type: 'text', text: await shortenText(part.text, maxBytes, blobs) });
  }
  return shortened;
}

/** A signed text must be sent back unchanged or not at all. */
function isLargeText(part: ContentPart, maxBytes: number): part is Extract<ContentPart, { type: 'text' }> {
  const isText = part?.type === 'text' && typeof part.text === 'string';
  return isText && part.signature === undefined && charsWithin(part.text, maxBytes) !== null;
}

/** Whether a recorded result represents this one: it was stored separately, or cleared. */
export function standsFor(recorded: ToolResultPayload, whole: ToolResultPayload): boolean {
  const stored = storedOf(recorded.extra?.['stored']);
  if (!stored) return false;
  const text = whole.toolError ?? textOfValue(whole.toolResult);
  return text !== null && isStoredText(text, stored.ref);
}

export function storedOf(value: JsonValue | undefined): StoredText | null {
  if (!isJsonObject(value) || typeof value['ref'] !== 'string' || typeof value['chars'] !== 'number')
    return null;
  return { ref: value['ref'], chars: value['chars'] };
}

/** A result as the text that a model reads; null for one that cannot be large. */
export function textOfValue(value: JsonValue): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : null;
}

export function storedJson(stored: StoredText): JsonObject {
  return { ref: stored.ref, chars: stored.chars };
}
