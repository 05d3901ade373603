/**
 * Encodes the items of a conversation as plain JSON, and decodes them without loss.
 *
 * Bytes, which the SDK allows as the data of an image or a file, become `{"$bytes":"<base64>"}`. An object
 * whose only key is `$bytes` or `$plain` becomes `{"$plain":{...}}`. As in JSON, undefined properties are
 * dropped and -0 is 0. Everything else outside of JSON is refused.
 */
import { types } from 'node:util';
import type { AgentInputItem } from '@openai/agents-core';
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../../core/json.js';
import { type PlainJsonForms, plainObject, plainObjects } from '../plain-json.js';

const BYTES = '$bytes';
const PLAIN = '$plain';

const FORMS: PlainJsonForms = {
  other: (input) => {
    if (!types.isUint8Array(input)) return undefined;
    return { [BYTES]: Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString('base64') };
  },
  object: (copy) => (isTag(copy) ? { [PLAIN]: copy } : copy),
};

/** @throws INVALID_ARGUMENT with the place of what cannot be stored */
export function encodeItems(items: unknown, argument: string): JsonObject[] {
  return plainObjects(items, argument, FORMS);
}

/** @throws INVALID_ARGUMENT with the place of what cannot be stored */
export function encodeItem(item: unknown, argument: string): JsonObject {
  return plainObject(item, argument, FORMS);
}

/** A new object each time, because the caller may change it. */
export function decodeItem(item: JsonObject): AgentInputItem {
  return decode(item) as unknown as AgentInputItem;
}

function decode(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(decode);
  if (!isJsonObject(value)) return value;
  const bytes = value[BYTES];
  if (isTag(value) && typeof bytes === 'string') return Uint8Array.from(Buffer.from(bytes, 'base64'));
  const plain = value[PLAIN];
  return decodeProperties(isTag(value) && isJsonObject(plain) ? plain : value);
}

function decodeProperties(value: JsonObject): object {
  const result = {};
  for (const [key, member] of Object.entries(value)) setOwn(result, key, decode(member) as JsonValue);
  return result;
}

function isTag(value: JsonObject): boolean {
  const keys = Object.keys(value);
  return keys.length === 1 && (keys[0] === BYTES || keys[0] === PLAIN);
}
