/** The rungs that change a message: clear an old result, and trim a message that is too large by itself. */
import type { JsonObject, JsonValue } from '../../core/json.js';
import { isJsonObject } from '../../core/json.js';
import {
  type Message,
  resultText,
  type ToolCallSpec,
  toolCallsOf,
  toolResultOf,
} from '../../messages/message.js';
import type { Blobs } from '../../storage/ports.js';
import { clearedLine, shortenText, storeText } from './left-out.js';
import { shortenParts, storedJson, storedOf, storeLargeResult } from './store-apart.js';

/** Shorter results stay: the line that replaces one is not much shorter. */
const CLEAR_CHARS_MIN = 400;

/** Whether clearing this message would save space. */
export function isClearable(message: Message): boolean {
  const result = toolResultOf(message);
  if (!result || message.pinned || message.synthetic || result.extra?.['cleared'] === true) return false;
  return message.parts !== undefined || resultText(result).length >= CLEAR_CHARS_MIN;
}

/** Replaces a result by a line that says where the whole text is. Durable when it resolves: the whole text is an artifact (see `storeText`). */
export async function clearResult(message: Message, blobs: Blobs | null): Promise<Message> {
  const { parts, ...rest } = message;
  const result = toolResultOf(message)!;
  const known = storedOf(result.extra?.['stored']);
  const stored = known ?? (await storeText(wholeText(message), blobs));
  const line = clearedLine(result.toolName, stored);
  const isError = result.toolError !== null;
  const toolPayload = {
    ...result,
    toolResult: isError ? null : line,
    toolError: isError ? line : null,
    extra: { ...result.extra, stored: storedJson(stored), cleared: true },
  };
  return { ...rest, toolPayload };
}

/** A result's text with the text of its parts. Media are already artifacts or URLs. */
function wholeText(message: Message): string {
  const texts = (message.parts ?? []).map((part) =>
    part.type === 'text' ? part.text : part.type === 'media' ? `[${part.media.kind} ${part.media.ref}]` : '',
  );
  return [resultText(toolResultOf(message)!), ...texts].join('\n');
}

/**
 * Shortens each long text of the message to its head and tail; the whole texts become artifacts. Signed texts and
 * signed calls stay unchanged. Returns the same object if nothing could be shortened. Durable when it resolves.
 */
export async function trimMessage(message: Message, maxBytes: number, blobs: Blobs | null): Promise<Message> {
  const result = toolResultOf(message);
  if (result) {
    const { parts } = message;
    const shortened = await storeLargeResult({ result, ...(parts ? { parts } : {}) }, maxBytes, blobs);
    if (shortened.result === result && shortened.parts === parts) return message;
    return {
      ...message,
      toolPayload: shortened.result,
      ...(shortened.parts ? { parts: shortened.parts } : {}),
    };
  }
  const content = message.content === null ? null : await shortenText(message.content, maxBytes, blobs);
  const parts = message.parts ? await shortenParts(message.parts, maxBytes, blobs) : undefined;
  const calls = await trimCalls(toolCallsOf(message), maxBytes, blobs);
  const same =
    content === message.content &&
    calls === null &&
    (parts?.every((part, index) => part === message.parts![index]) ?? true);
  if (same) return message;
  return {
    ...message,
    content,
    ...(parts ? { parts } : {}),
    ...(calls ? { toolPayload: { toolCalls: calls } } : {}),
  };
}

/** Null if no call changed. */
async function trimCalls(
  calls: readonly ToolCallSpec[],
  maxBytes: number,
  blobs: Blobs | null,
): Promise<ToolCallSpec[] | null> {
  let changed = false;
  const trimmed: ToolCallSpec[] = [];
  for (const call of calls) {
    const { argumentsText, ...rest } = call;
    const size = argumentsText?.length ?? JSON.stringify(call.arguments).length;
    if (call.signature !== undefined || size <= maxBytes || !isJsonObject(call.arguments)) trimmed.push(call);
    else {
      changed = true;
      trimmed.push({ ...rest, arguments: await trimArguments(call.arguments, maxBytes, blobs) });
    }
  }
  return changed ? trimmed : null;
}

/** Shortens long texts in the arguments. Any other value that is too large becomes its shortened JSON. */
async function trimArguments(args: JsonObject, maxBytes: number, blobs: Blobs | null): Promise<JsonObject> {
  const fields = Object.entries(args);
  const share = Math.max(80, Math.floor(maxBytes / Math.max(1, fields.length)));
  const trimmed: [string, JsonValue][] = [];
  for (const [key, value] of fields) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const shown = await shortenText(text, share, blobs);
    trimmed.push([key, shown === text ? value : shown]);
  }
  return Object.fromEntries(trimmed);
}
