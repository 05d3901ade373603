/**
 * One message in our stored form or in the flat neutral form (`tool_calls`, `tool_call_id`, `tool_result`, `media` next
 * to the content). Its faults are kept for the legality rules: unknown roles, arguments that are not an object, results
 * with an error too.
 */

import { isJsonObject, type JsonObject, type JsonValue, setOwn, textOr } from '../../../core/json.js';
import {
  type ContentPart,
  MESSAGE_ROLES,
  type Media,
  type Message,
  type MessageRole,
  type Origin,
  type ReasoningItem,
  type ToolCallSpec,
  type ToolResultPayload,
} from '../../message.js';
import { messageFromJson } from '../../message-serializer.js';
import { jsonTextOf } from '../reading/json-text.js';
import { idText, isAbsent, textField } from '../reading/record-fields.js';

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type NeutralFields = Partial<Writable<Message>>;

/** Fields that are read here; the serializer reads all others. */
const OWN_FIELDS = new Set([
  ...['content', 'parts', 'reasoning', 'media', 'message_id', 'tool_payload'],
  ...['tool_calls', 'tool_call_id', 'tool_name', 'tool_result', 'tool_error'],
]);
const RESULT_FIELDS = ['tool_name', 'tool_result', 'tool_error'];
const CALL_FIELDS = new Set(['id', 'name', 'arguments', 'arguments_text', 'signature']);
const MEDIA_KINDS: ReadonlySet<JsonValue | undefined> = new Set(['image', 'audio', 'video', 'file']);

export function neutralMessageFrom(json: JsonValue): Message {
  if (!isJsonObject(json)) return { role: 'user', content: isAbsent(json) ? null : jsonTextOf(json) };
  const read: NeutralFields = { ...contentFrom(json), ...marksFrom(json) };
  addPayload(read, json);
  const { content = null, ...fields } = read;
  return { ...restFrom(json), content, ...fields, role: idText(json['role']) as MessageRole };
}

/** The remaining fields, as far as the serializer accepts them. */
function restFrom(json: JsonObject): Partial<Message> {
  const rest: JsonObject = {};
  for (const key of Object.keys(json)) if (!OWN_FIELDS.has(key)) setOwn(rest, key, json[key]!);
  if (rest['kind'] === 'summary') rest['kind'] = 'memory';
  rest['role'] = MESSAGE_ROLES.find((role) => role === rest['role']) ?? 'user';
  try {
    return messageFromJson(rest);
  } catch {
    return { extra: { unread: rest } };
  }
}

function contentFrom(json: JsonObject): NeutralFields {
  const { content, reasoning } = json;
  const list = [content, json['parts']].find((given) => Array.isArray(given) && given.length > 0);
  const media = Array.isArray(json['media']) ? json['media'].flatMap(mediaPartFrom) : [];
  const items = reasoningFrom(reasoning);
  const fields: NeutralFields = items.length > 0 ? { reasoning: items } : {};
  const isEmpty = isAbsent(content) || Array.isArray(content);
  const text = isEmpty ? null : typeof content === 'string' ? content : jsonTextOf(content);
  if (Array.isArray(list)) return { ...fields, content: text, parts: [...list.map(partFrom), ...media] };
  if (media.length === 0) return { ...fields, content: text };
  const texts: ContentPart[] = text === null ? [] : [{ type: 'text', text }];
  return { ...fields, content: null, parts: [...texts, ...media] };
}

function partFrom(part: JsonValue): ContentPart {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isJsonObject(part)) return { type: 'text', text: isAbsent(part) ? '' : jsonTextOf(part) };
  if (part['type'] === 'reasoning')
    return { type: 'reasoning', reasoning: reasoningItemFrom(innerOf(part, 'reasoning')) };
  const [media] = mediaPartFrom(innerOf(part, 'media'));
  if (media) return media;
  const text = textField(part, 'text');
  const signature = textField(part, 'signature');
  return {
    type: 'text',
    text: text ?? jsonTextOf(part),
    ...(signature === undefined ? {} : { signature }),
  };
}

/** The stored form nests the fields of a part one level deeper than the flat form. */
function innerOf(part: JsonObject, key: string): JsonObject {
  const inner = part[key];
  return isJsonObject(inner) ? inner : part;
}

function mediaPartFrom(json: JsonValue): ContentPart[] {
  if (!isJsonObject(json) || !MEDIA_KINDS.has(json['kind']) || typeof json['ref'] !== 'string') return [];
  const { kind, ref } = json as unknown as Media;
  const media: Writable<Media> = { kind, ref };
  for (const key of ['mime', 'name'] as const) {
    const value = json[key];
    if (typeof value === 'string') media[key] = value;
  }
  for (const key of ['bytes', 'width', 'height'] as const) {
    const value = json[key];
    if (typeof value === 'number') media[key] = value;
  }
  return [{ type: 'media', media }];
}

function reasoningFrom(given: JsonValue | undefined): ReasoningItem[] {
  if (typeof given === 'string') return [{ text: given }];
  const list = Array.isArray(given) ? given : [given];
  return list.filter(isJsonObject).map(reasoningItemFrom);
}

function reasoningItemFrom(json: JsonObject): ReasoningItem {
  const item: Writable<ReasoningItem> = { text: textField(json, 'text') ?? null };
  for (const key of ['signature', 'encrypted', 'id'] as const) {
    const value = json[key];
    if (typeof value === 'string') item[key] = value;
  }
  if (json['redacted'] === true) item.redacted = true;
  const origin = originFrom(json);
  if (origin) item.origin = origin;
  return item;
}

function originFrom(json: JsonObject): Origin | undefined {
  const fields = innerOf(json, 'origin');
  const provider = textField(fields, 'provider');
  if (provider === undefined) return undefined;
  const model = textField(fields, 'model');
  const account = textField(fields, 'account');
  return {
    provider,
    ...(model === undefined ? {} : { model }),
    ...(account === undefined ? {} : { account }),
  };
}

/** Also for a role that must not have a payload: the legality rules move calls and results to a message of their own (H1). */
function addPayload(fields: NeutralFields, json: JsonObject): void {
  const { role } = json;
  const holder = innerOf(json, 'tool_payload');
  const calls = holder['tool_calls'];
  const isOfCall = !isAbsent(holder['tool_call_id']);
  if (Array.isArray(calls) && (role !== 'tool' || (!isOfCall && calls.length > 0))) {
    fields.toolPayload = { toolCalls: calls.map(callFrom) };
    return;
  }
  const isUnknown = !MESSAGE_ROLES.some((known) => known === role);
  if (role !== 'tool' && !isOfCall && !(isUnknown && RESULT_FIELDS.some((key) => !isAbsent(holder[key]))))
    return;
  const result = resultFrom(holder);
  const isSaid = role !== 'tool' && !isUnknown; // a message of that role, with a result next to it
  const isInContent =
    typeof fields.content === 'string' && !isSaid && !('tool_result' in holder || 'tool_error' in holder);
  fields.toolPayload = isInContent ? { ...result, toolResult: fields.content! } : result;
  if (isInContent) fields.content = null;
}

function callFrom(json: JsonValue): ToolCallSpec {
  const fields = isJsonObject(json) ? json : {};
  const call: Writable<ToolCallSpec> = {
    id: idText(fields['id']),
    name: idText(fields['name']),
    arguments: isJsonObject(json) ? ('arguments' in json ? json['arguments']! : {}) : json,
  };
  const text = textField(fields, 'arguments_text');
  const signature = textField(fields, 'signature');
  if (text !== undefined) call.argumentsText = text;
  if (signature !== undefined) call.signature = signature;
  return { ...call, ...extraOf(fields, CALL_FIELDS) };
}

function resultFrom(json: JsonObject): ToolResultPayload {
  const error = json['tool_error'];
  const toolError = isAbsent(error) ? null : typeof error === 'string' ? error : jsonTextOf(error);
  return {
    toolCallId: idText(json['tool_call_id']),
    toolName: idText(json['tool_name']),
    toolResult: json['tool_result'] ?? null,
    toolError,
  };
}

function extraOf(json: JsonObject, known: ReadonlySet<string>): { readonly extra?: JsonObject } {
  const extra: JsonObject = {};
  for (const key of Object.keys(json)) if (!known.has(key)) setOwn(extra, key, json[key]!);
  return Object.keys(extra).length > 0 ? { extra } : {};
}

function marksFrom(json: JsonObject): NeutralFields {
  return isAbsent(json['message_id']) ? {} : { messageId: idText(json['message_id']) };
}

/** True if it has fields that only our forms have. */
export function isNeutralMessage(json: JsonValue | undefined): json is JsonObject {
  if (!isJsonObject(json) || typeof json['role'] !== 'string') return false;
  return (
    'tool_payload' in json ||
    ('tool_call_id' in json && ('tool_result' in json || 'tool_error' in json)) ||
    (Array.isArray(json['media']) && json['media'].some(isMediaOfOurs)) ||
    (Array.isArray(json['parts']) && json['parts'].some(isMediaPartOfOurs)) ||
    ['summary', 'memory'].includes(textOr(json['kind'])) ||
    hasFlatCalls(json) ||
    hasReasoningOfOurs(json)
  );
}

function isMediaPartOfOurs(json: JsonValue): boolean {
  return isJsonObject(json) && json['type'] === 'media' && isMediaOfOurs(innerOf(json, 'media'));
}

function isMediaOfOurs(json: JsonValue): boolean {
  return mediaPartFrom(json).length > 0;
}

function hasFlatCalls(json: JsonObject): boolean {
  const calls = json['tool_calls'];
  return (
    Array.isArray(calls) &&
    calls.some((call) => isJsonObject(call) && 'name' in call && 'arguments' in call && !('function' in call))
  );
}

function hasReasoningOfOurs(json: JsonObject): boolean {
  const { reasoning } = json;
  if (Array.isArray(reasoning) && reasoning.some((item) => isJsonObject(item) && isThought(item)))
    return true;
  const lists = [reasoning, json['parts'], json['content']];
  return lists.flat().some((item) => isJsonObject(item) && isSigned(item));
}

function isThought(item: JsonObject): boolean {
  return item['type'] === undefined && typeof item['text'] === 'string';
}

function isSigned(item: JsonObject): boolean {
  const isTyped = item['type'] === undefined || item['type'] === 'reasoning';
  return isTyped && 'text' in item && ['signature', 'encrypted', 'provider'].some((key) => key in item);
}

/** Ids that are missing or not a text are read as text, and counted as an approximation. */
export function hasOddId(json: JsonObject): boolean {
  const holder = innerOf(json, 'tool_payload');
  const calls = Array.isArray(holder['tool_calls']) ? holder['tool_calls'] : [];
  const ids = calls.map((call) => (isJsonObject(call) ? call['id'] : null));
  if (json['role'] === 'tool') ids.push(holder['tool_call_id'] ?? null);
  if (!isAbsent(json['message_id'])) ids.push(json['message_id']);
  return ids.some((id) => typeof id !== 'string');
}
