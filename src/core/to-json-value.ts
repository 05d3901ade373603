/**
 * Turns any JavaScript value into JSON: never throws, never mutates, and reports each change.
 *
 * A tool may return anything, and one bad value must not prevent the save of a whole context. The result is a deep copy
 * in normal form: it equals `JSON.parse(JSON.stringify(result))`, so the state in memory and the state read back from
 * disk are the same. Shared references are copied. Only true cycles, and values larger than any record, are cut.
 */
import { toBase64 } from './bytes.js';
import { messageOf } from './errors.js';
import { type JsonObject, type JsonValue, setOwn } from './json.js';
import { type JsonChange, type JsonChangeKind, JsonChanges, type Place, TOP } from './json-changes.js';
import { JSON_DEPTH_MAX, RECORD_BYTES_MAX } from './limits.js';
import {
  bytesOf,
  errorKeys,
  isError,
  isPlain,
  mapEntries,
  setMembers,
  timeOf,
  unboxed,
} from './odd-objects.js';

export type { JsonChange, JsonChangeKind } from './json-changes.js';

/** The result of `toJsonValue`. `changes` is empty if JSON can hold the value as it is. */
export interface JsonConversion {
  readonly value: JsonValue;
  readonly changes: readonly JsonChange[];
}

/**
 * Maximum length of the output, in characters: shared references can multiply without end. It is twice the record
 * limit, and a value is cut only after half of it is used. So a value that was cut is too large for a record: storage
 * rejects it, and nothing is lost silently.
 */
const SIZE_MAX = 2 * RECORD_BYTES_MAX;
/** Size counted for a value in addition to its text. */
const VALUE_SIZE = 16;
const TOO_LARGE = '[too large]';

/**
 * Converts any value to JSON. Never throws. Dates, maps, bytes, errors and other values that JSON cannot hold are
 * replaced, and each replacement is listed in `changes`.
 * ```ts
 * toJsonValue({ at: new Date(0) }).changes; // [{ kind: 'date', path: '/at' }]
 * ```
 */
export function toJsonValue(input: unknown): JsonConversion {
  const conversion = new Conversion();
  const value = conversion.convert(input, TOP, 0);
  return { value: value === undefined ? null : value, changes: conversion.changes.list };
}

class Conversion {
  readonly changes = new JsonChanges();
  readonly #open = new Set<object>();
  #room = SIZE_MAX;

  /** Returns undefined if the property is to be left out. */
  convert(input: unknown, at: Place, depth: number): JsonValue | undefined {
    this.#room -= VALUE_SIZE;
    if (typeof input === 'string') return this.#text(input, at);
    if (input === null || typeof input === 'boolean') return input;
    if (typeof input === 'number') return this.#number(input, at);
    if (typeof input === 'object') return this.#guarded(input, at, depth);
    if (typeof input === 'bigint') return this.#text(this.#changed('bigint', at, input.toString()), at);
    if (input === undefined) return this.#changed('undefined', at, at === TOP ? null : undefined);
    return this.#changed('function-or-symbol', at, at === TOP ? `[${typeof input}]` : undefined);
  }

  #number(input: number, at: Place): JsonValue {
    if (Number.isFinite(input)) return input === 0 ? 0 : input; // -0 becomes 0, as in JSON.stringify
    return this.#changed('non-finite', at, String(input));
  }

  #text(input: string, at: Place): string {
    if (this.#isTooMuch(input.length)) return this.#changed('size', at, TOO_LARGE);
    this.#room -= input.length;
    return input.isWellFormed() ? input : this.#changed('surrogate', at, input.toWellFormed());
  }

  #isTooMuch(length: number): boolean {
    return length > this.#room && this.#room < SIZE_MAX / 2;
  }

  #guarded(input: object, at: Place, depth: number): JsonValue | undefined {
    if (this.#open.has(input)) return this.#changed('cycle', at, '[circular]');
    if (depth >= JSON_DEPTH_MAX) return this.#changed('depth', at, '[nested too deep]');
    if (this.#room < 0) return this.#changed('size', at, TOO_LARGE);
    this.#open.add(input);
    try {
      return this.#object(input, at, depth);
    } catch (thrown) {
      const why = messageOf(thrown).slice(0, 200).toWellFormed();
      return this.#changed('throws', at, `[unreadable: ${why}]`);
    } finally {
      this.#open.delete(input);
    }
  }

  #object(input: object, at: Place, depth: number): JsonValue | undefined {
    if (Array.isArray(input)) return this.#array(input, at, depth);
    const plain = isPlain(input);
    const known = plain ? undefined : this.#known(input, at, depth);
    if (known !== undefined) return known.value;
    const toJSON = (input as { toJSON?: unknown }).toJSON;
    if (typeof toJSON === 'function') {
      const answer: unknown = toJSON.call(input);
      if (answer !== input) return this.convert(answer, at, depth + 1);
    }
    const keys = Object.keys(input);
    const text = plain || keys.length > 0 ? PLAIN_TEXT : String(input);
    if (text !== PLAIN_TEXT) return this.#text(this.#changed('opaque', at, text), at);
    return this.#properties(input, keys, at, depth);
  }

  /** Objects whose own properties do not show their content; undefined for all others. */
  #known(input: object, at: Place, depth: number): { value: JsonValue | undefined } | undefined {
    const time = timeOf(input);
    if (time !== null) return { value: this.#date(time, at) };
    const entries = mapEntries(input);
    if (entries) return { value: this.#map(this.#listed(entries), at, depth) };
    const members = setMembers(input);
    if (members) {
      this.changes.note('collection', at);
      return { value: this.#array(this.#listed(members), at, depth) };
    }
    const bytes = bytesOf(input);
    if (bytes) return { value: this.#bytes(bytes, at) };
    if (isError(input)) return { value: this.#error(input, at, depth) };
    const box = unboxed(input);
    return box ? { value: this.convert(box.primitive, at, depth) } : undefined;
  }

  /** The iterator of a subclass may never end. */
  #listed(members: Iterable<unknown>): unknown[] {
    const list: unknown[] = [];
    for (const member of members) {
      if (list.length * VALUE_SIZE > this.#room) break;
      list.push(member);
    }
    return list;
  }

  #array(input: readonly unknown[], at: Place, depth: number): JsonValue {
    const result: JsonValue[] = [];
    for (let index = 0; index < input.length; index += 1) {
      const place = { in: at, key: index };
      if (this.#room < 0) {
        result.push(this.#changed('size', place, TOO_LARGE));
        break;
      }
      result.push(this.#member(input, index, place, depth) ?? null);
    }
    return result;
  }

  #properties(input: object, keys: readonly string[], at: Place, depth: number): JsonObject {
    const safeKeys = this.#safeKeys(keys, at);
    const result: JsonObject = {};
    for (let index = 0; index < safeKeys.length; index += 1) {
      const safeKey = safeKeys[index]!;
      const value = this.#member(input, keys[index]!, { in: at, key: safeKey }, depth);
      if (value !== undefined) setOwn(result, safeKey, value);
    }
    return result;
  }

  /** The keys with their lone surrogates replaced, made unique, as many as there is room for. A valid key keeps its name. */
  #safeKeys(given: readonly string[], at: Place): readonly string[] {
    const keys = this.#fitting(given, at);
    if (keys.every((key) => key.isWellFormed())) return keys;
    const taken = new Set(keys);
    const numbers = new Map<string, number>();
    return keys.map((key) => {
      if (key.isWellFormed()) return key;
      const clean = this.#changed('surrogate', at, key.toWellFormed());
      let safe = clean;
      let number = numbers.get(clean) ?? 1;
      while (taken.has(safe)) safe = `${clean}_${++number}`;
      numbers.set(clean, number);
      taken.add(safe);
      return safe === clean ? safe : this.#changed('key', { in: at, key: safe }, safe);
    });
  }

  #fitting(keys: readonly string[], at: Place): readonly string[] {
    for (const [index, key] of keys.entries()) {
      if (key.length > this.#room) return this.#changed('size', at, keys.slice(0, index));
      this.#room -= key.length;
    }
    return keys;
  }

  /** Reads one property. If its getter throws, only that property is lost. */
  #member(input: object, key: string | number, at: Place, depth: number): JsonValue | undefined {
    let value: unknown;
    try {
      value = (input as { [key: string | number]: unknown })[key];
    } catch {
      return this.#changed('throws', at, undefined);
    }
    return this.convert(value, at, depth + 1);
  }

  #map(entries: readonly unknown[], at: Place, depth: number): JsonValue {
    this.changes.note('collection', at);
    if (!entries.every(hasTextKey)) return this.#array(entries, at, depth);
    const keys = this.#safeKeys(
      entries.map(([key]) => key),
      at,
    );
    const result: JsonObject = {};
    for (const [index, key] of keys.entries()) {
      const value = this.convert(entries[index]![1], { in: at, key }, depth + 1);
      setOwn(result, key, value ?? null);
    }
    return result;
  }

  #date(time: number, at: Place): JsonValue {
    return this.#changed('date', at, Number.isNaN(time) ? null : new Date(time).toISOString());
  }

  #bytes(bytes: Uint8Array, at: Place): JsonValue {
    if (this.#isTooMuch(bytes.length)) return this.#changed('size', at, TOO_LARGE);
    const base64 = toBase64(bytes);
    this.#room -= base64.length;
    return this.#changed('bytes', at, { base64, bytes: bytes.length });
  }

  #error(input: Error, at: Place, depth: number): JsonValue {
    this.changes.note('error', at);
    const name = this.#member(input, 'name', { in: at, key: 'name' }, depth) ?? 'Error';
    const message = this.#member(input, 'message', { in: at, key: 'message' }, depth) ?? '';
    return { name, message, ...this.#properties(input, errorKeys(input), at, depth) };
  }

  #changed<T>(kind: JsonChangeKind, at: Place, value: T): T {
    this.changes.note(kind, at);
    return value;
  }
}

/** The result of `String` for an object without a text of its own. */
const PLAIN_TEXT = '[object Object]';

function hasTextKey(entry: unknown): entry is [string, unknown] {
  return Array.isArray(entry) && typeof entry[0] === 'string';
}
