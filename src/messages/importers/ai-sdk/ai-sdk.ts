/** Reads response messages of the Vercel AI SDK as texts, calls and results. Unknown parts are kept as provider items. */

import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { toJsonValue } from '../../../core/to-json-value.js';
import { callItemFrom } from '../../ai-sdk-metadata.js';
import { reasoningFrom, thoughtSignatureFrom } from '../../ai-sdk-signatures.js';
import type { ContentPart, Message, Origin, ProviderItem, ToolCallSpec } from '../../message.js';
import { assistantContentOf } from '../reading/content-parts.js';
import { jsonTextOf } from '../reading/json-text.js';

/** Reasoning between texts keeps its place in `parts`. */
export interface ImportedResponse extends Pick<Message, 'content' | 'parts' | 'reasoning'> {
  readonly kind: 'assistant';
  readonly toolCalls: readonly ToolCallSpec[];
  readonly providerItems: readonly ProviderItem[];
}

export interface ImportedResult {
  readonly kind: 'result';
  readonly callId: string;
  readonly toolName: string;
  readonly result: JsonValue;
  readonly error: string | null;
}

/** In order. @throws MESSAGE_INVALID for anything but an assistant or tool message */
export function fromAiSdkMessages(
  messages: readonly unknown[],
  origin: Origin,
): (ImportedResponse | ImportedResult)[] {
  return messages.flatMap((message, index) => {
    const json = toJsonValue(message).value;
    if (isJsonObject(json) && json['role'] === 'assistant') return fromAssistant(json, origin);
    if (isJsonObject(json) && json['role'] === 'tool') return partsOf(json).filter(isResult).map(fromResult);
    throw new RekindleError(
      'MESSAGE_INVALID',
      `Response message ${index} must have the role assistant or tool.`,
      {
        details: { index, field: 'role' },
      },
    );
  });
}

function fromAssistant(json: JsonObject, origin: Origin): (ImportedResponse | ImportedResult)[] {
  const parts: ContentPart[] = [];
  const toolCalls: ToolCallSpec[] = [];
  const providerItems: ProviderItem[] = [];
  for (const part of partsOf(json)) {
    const text = String(part['text'] ?? '');
    if (part['type'] === 'text')
      parts.push({ type: 'text', text, ...thoughtSignatureFrom(part['providerOptions']) });
    else if (part['type'] === 'reasoning')
      parts.push({ type: 'reasoning', reasoning: reasoningFrom(text, part['providerOptions'], origin) });
    else if (part['type'] === 'tool-call') {
      const call = callOf(part);
      const item = callItemFrom(call.id, part['providerOptions'], origin);
      toolCalls.push(call);
      if (item) providerItems.push(item);
    } else if (!isResult(part)) providerItems.push({ origin, item: part });
  }
  return [
    { kind: 'assistant', ...assistantContentOf(joinTexts(parts)), toolCalls, providerItems },
    ...partsOf(json).filter(isResult).map(fromResult), // run by the provider itself
  ];
}

/** Consecutive texts are joined, as they were streamed, unless one is signed. */
function joinTexts(parts: readonly ContentPart[]): ContentPart[] {
  const joined: ContentPart[] = [];
  for (const part of parts) {
    const last = joined[joined.length - 1];
    const isPlain = last?.type === 'text' && part.type === 'text' && !last.signature && !part.signature;
    if (isPlain) joined[joined.length - 1] = { type: 'text', text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
}

function partsOf(json: JsonObject): JsonObject[] {
  const { content } = json;
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

function isResult(part: JsonObject): boolean {
  return part['type'] === 'tool-result';
}

function callOf(part: JsonObject): ToolCallSpec {
  const id = String(part['toolCallId'] ?? '');
  return { id, name: String(part['toolName'] ?? ''), arguments: part['input'] ?? {} };
}

function fromResult(part: JsonObject): ImportedResult {
  const output = isJsonObject(part['output']) ? part['output'] : {};
  const type = String(output['type'] ?? '');
  const value = output['value'] ?? null;
  const failed = type.startsWith('error') || type === 'execution-denied';
  const text = typeof value === 'string' ? value : jsonTextOf(value);
  const base = {
    kind: 'result' as const,
    callId: String(part['toolCallId'] ?? ''),
    toolName: String(part['toolName'] ?? ''),
  };
  if (!failed) return { ...base, result: value, error: null };
  const reason =
    type === 'execution-denied'
      ? String(output['reason'] ?? 'The call was not approved, so it did not run.')
      : text;
  return {
    ...base,
    result: null,
    error: reason.trim() === '' ? 'The tool failed without a message.' : reason,
  };
}
