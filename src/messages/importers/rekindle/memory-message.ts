/** A neutral message in its in-memory form (camelCase): hosts pass what `restore` gave them. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Message } from '../../message.js';
import { messageToJson } from '../../message-serializer.js';

const OWN_FIELDS = [
  'toolPayload',
  'providerItems',
  'reasoningContent',
  'imageUrls',
  'audioUrls',
  'videoUrls',
];
/** Names in code of fields whose stored form has another name. */
const LISTS = ['imageUrls', 'audioUrls', 'videoUrls', 'providerItems', 'parts', 'reasoning'];

/** True if it has fields of the in-memory form. */
export function isMemoryMessage(json: JsonObject): boolean {
  if (typeof json['role'] !== 'string') return false;
  return OWN_FIELDS.some((field) => field in json && !('tool_payload' in json)) && hasOwnShapes(json);
}

function hasOwnShapes(json: JsonObject): boolean {
  const areLists = LISTS.every((field) => json[field] === undefined || Array.isArray(json[field]));
  return areLists && isPayload(json['toolPayload']) && isOptionalObject(json['extra']);
}

function isPayload(payload: JsonValue | undefined): boolean {
  if (payload === undefined) return true;
  if (!isJsonObject(payload)) return false;
  const { toolCalls } = payload;
  if (toolCalls !== undefined)
    return (
      Array.isArray(toolCalls) &&
      toolCalls.every((call) => isJsonObject(call) && isOptionalObject(call['extra']))
    );
  return 'toolCallId' in payload && isOptionalObject(payload['extra']);
}

function isOptionalObject(value: JsonValue | undefined): boolean {
  return value === undefined || isJsonObject(value);
}

/** Its stored form, for the reader of that form. */
export function storedFormOf(json: JsonObject): JsonObject {
  return messageToJson(json as unknown as Message);
}
