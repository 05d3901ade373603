/** Content of Goose messages in the form of Anthropic's blocks, which both models share except for names. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { jsonTextOf } from '../reading/json-text.js';
import { listField, objectField, textField } from '../reading/record-fields.js';

/** Blocks that Goose shows to people, or asks them with. */
const NOTES: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['toolConfirmationRequest', 'request for an approval'],
  ['actionRequired', 'request for an approval'],
  ['systemNotification', 'notification'],
  ['contextLengthExceeded', 'notification'],
  ['summarizationRequested', 'notification'],
  ['conversationCompacted', 'notification'],
]);

export function gooseBlocksOf(
  content: readonly JsonValue[],
  losses: LossAccount,
  place: string,
): JsonValue[] {
  return content.flatMap((block): JsonValue[] => {
    if (!isJsonObject(block)) return [block];
    const note = NOTES.get(block['type']);
    if (note === undefined) return [blockOf(block, losses, place)];
    losses.drop(note, place);
    return [];
  });
}

function blockOf(block: JsonObject, losses: LossAccount, place: string): JsonObject {
  switch (block['type']) {
    case 'toolRequest':
    case 'frontendToolRequest':
      return callOf(block, losses, place);
    case 'toolResponse':
      return resultOf(block, losses, place);
    case 'image':
      return imageOf(block);
    case 'redactedThinking':
      return { type: 'redacted_thinking', data: block['data'] ?? null };
    case 'reasoning':
      return { type: 'thinking', thinking: block['text'] ?? null };
    default:
      return block;
  }
}

/** A call that Goose could not read has an error instead of a name. */
function callOf(block: JsonObject, losses: LossAccount, place: string): JsonObject {
  const call = objectField(block, 'toolCall');
  const value = isJsonObject(call['value']) ? call['value'] : call;
  const name = textField(value, 'name');
  if (name === undefined) losses.approximate('call that could not be read, without its name', place);
  return { type: 'tool_use', id: block['id'] ?? '', name: name ?? '', input: value['arguments'] ?? {} };
}

function resultOf(block: JsonObject, losses: LossAccount, place: string): JsonObject {
  const result = objectField(block, 'toolResult');
  const id = block['id'] ?? '';
  if (result['status'] === 'error' || 'error' in result) {
    const error = result['error'] ?? '';
    const content = typeof error === 'string' ? error : jsonTextOf(error);
    return { type: 'tool_result', tool_use_id: id, content, is_error: true };
  }
  const { value } = result;
  const parts = Array.isArray(value) ? value : isJsonObject(value) ? listField(value, 'content') : [];
  const isError = isJsonObject(value) && value['isError'] === true;
  const shown = parts.filter((part) => isForModel(part, losses, place)).map(resultPart);
  const [only] = shown;
  const isText = shown.length === 1 && isJsonObject(only) && typeof only['text'] === 'string';
  const content: JsonValue = shown.length === 0 ? '' : isText ? only['text']! : shown;
  return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) };
}

/** Tools may give one text to the model and another to the user. */
function isForModel(part: JsonValue, losses: LossAccount, place: string): boolean {
  const audience = isJsonObject(part) ? listField(objectField(part, 'annotations'), 'audience') : [];
  const isFor = audience.length === 0 || audience.includes('assistant');
  if (!isFor) losses.drop('part of a tool result for the user', place);
  return isFor;
}

function resultPart(part: JsonValue): JsonValue {
  if (!isJsonObject(part)) return part;
  if (part['type'] === 'image') return imageOf(part);
  const text = textField(objectField(part, 'resource'), 'text');
  return part['type'] === 'resource' && text !== undefined ? { type: 'text', text } : part;
}

function imageOf(block: JsonObject): JsonObject {
  const mime = textField(block, 'mimeType') ?? 'image/png';
  return { type: 'image', source: { type: 'base64', media_type: mime, data: block['data'] ?? '' } };
}
