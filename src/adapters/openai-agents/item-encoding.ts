/**
 * Encodes the items of a conversation as plain JSON, and decodes them without loss.
 *
 * Bytes, which the SDK allows as the data of an image or a file, become `{"$bytes":"<base64>"}`. An object
 * whose only key is `$bytes` or `$plain` becomes `{"$plain":{...}}`. As in JSON, undefined properties are
 * dropped and -0 is 0. Everything else outside of JSON is refused.
 */
import { types } from 'node:util';
import type { AgentInputItem } from '@openai/agents-core';
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../../core/json.js';
import { JSON_DEPTH_MAX, RECORD_BYTES_MAX } from '../../core/limits.js';

const BYTES = '$bytes';
const PLAIN = '$plain';
/**
 * Every value takes at least two bytes, so no record can contain more. A limit is needed because shared parts
 * can multiply without end.
 */
const VALUES_MAX = RECORD_BYTES_MAX / 2;

/** @throws INVALID_ARGUMENT with the place of what cannot be stored */
export function encodeItems(items: unknown, argument: string): JsonObject[] {
  if (!Array.isArray(items)) throw refused(argument, 'it must be an array');
  const encoding = new Encoding();
  return Array.from(items, (item: unknown, index) => encodeOne(encoding, item, `${argument}[${index}]`));
}

/** @throws INVALID_ARGUMENT with the place of what cannot be stored */
export function encodeItem(item: unknown, argument: string): JsonObject {
  return encodeOne(new Encoding(), item, argument);
}

function encodeOne(encoding: Encoding, item: unknown, at: string): JsonObject {
  if (!isPlainObject(item)) throw refused(at, 'it must be a plain object');
  return encoding.object(item, at, 1);
}

class Encoding {
  #room = VALUES_MAX;

  #value(input: unknown, at: string, depth: number): JsonValue {
    if (--this.#room < 0 || depth > JSON_DEPTH_MAX) throw refused(at, 'it is too large or nested too deep');
    if (input === null || typeof input === 'string' || typeof input === 'boolean') return input;
    if (typeof input === 'number' && Number.isFinite(input)) return input;
    if (Array.isArray(input))
      return Array.from(input, (member: unknown, index) => this.#value(member, `${at}[${index}]`, depth + 1));
    if (types.isUint8Array(input))
      return { [BYTES]: Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString('base64') };
    if (isPlainObject(input)) return this.object(input, at, depth);
    throw refused(at, `JSON cannot represent ${kindOf(input)}`);
  }

  object(input: object, at: string, depth: number): JsonObject {
    const result: JsonObject = {};
    for (const [key, value] of Object.entries(input))
      if (value !== undefined) setOwn(result, key, this.#value(value, `${at}.${key}`, depth + 1));
    return isTag(result) ? { [PLAIN]: result } : result;
  }
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

function isPlainObject(input: unknown): input is object {
  if (typeof input !== 'object' || input === null) return false;
  const prototype: unknown = Object.getPrototypeOf(input);
  // Also accept a literal of another realm, such as a worker or a test runner.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function kindOf(input: unknown): string {
  if (typeof input !== 'object' || input === null)
    return typeof input === 'number' ? String(input) : typeof input;
  return Object.prototype.toString.call(input).slice('[object '.length, -1);
}

function refused(argument: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${argument} cannot be stored: ${problem}.`, {
    details: { argument: argument.toWellFormed().slice(0, 200), problem },
  });
}
