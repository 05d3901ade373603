/**
 * Turns any JavaScript value into JSON: never throws, never mutates, and reports each change.
 *
 * A tool may return anything, and one bad value must not stop the save of a whole context. The result is
 * a deep copy in normal form: it equals `JSON.parse(JSON.stringify(result))`, so the state in memory and
 * the state read back from disk are the same. Shared references are written out; only true cycles are cut.
 */
import { messageOf } from './errors.js';
import { type JsonObject, type JsonValue, setOwn } from './json.js';
import { JSON_DEPTH_MAX } from './limits.js';

export type JsonChangeKind =
  | 'undefined'
  | 'non-finite'
  | 'bigint'
  | 'date'
  | 'collection'
  | 'bytes'
  | 'error'
  | 'cycle'
  | 'function-or-symbol'
  | 'throws'
  | 'surrogate'
  | 'depth'
  | 'size';

export interface JsonChange {
  readonly kind: JsonChangeKind;
  /** JSON Pointer (RFC 6901) into the result. */
  readonly path: string;
}

export interface JsonConversion {
  readonly value: JsonValue;
  readonly changes: readonly JsonChange[];
}

/** Values written out at most; beyond that the rest is cut, because shared references can multiply without end. */
const NODES_MAX = 2_000_000;
/** Changes reported at most; the conversion itself goes on. */
const CHANGES_MAX = 100;

export function toJsonValue(input: unknown): JsonConversion {
  const conversion = new Conversion();
  const value = conversion.convert(input, '', 0);
  return { value: value === undefined ? null : value, changes: conversion.changes };
}

class Conversion {
  readonly changes: JsonChange[] = [];
  readonly #open = new Set<object>();
  #nodes = 0;

  /** Returns undefined where a property is to be left out. */
  convert(input: unknown, path: string, depth: number): JsonValue | undefined {
    if (typeof input === 'string') return this.#text(input, path);
    if (input === null || typeof input === 'boolean') return input;
    if (typeof input === 'number') return this.#number(input, path);
    if (typeof input === 'object') return this.#guarded(input, path, depth);
    if (typeof input === 'bigint') return this.#changed('bigint', path, input.toString());
    if (input === undefined) return this.#changed('undefined', path, path === '' ? null : undefined);
    return this.#changed('function-or-symbol', path, path === '' ? `[${typeof input}]` : undefined);
  }

  #number(input: number, path: string): JsonValue {
    if (Number.isFinite(input)) return input === 0 ? 0 : input; // -0 becomes 0, as in JSON.stringify
    return this.#changed('non-finite', path, String(input));
  }

  #text(input: string, path: string): string {
    if (input.isWellFormed()) return input;
    return this.#changed('surrogate', path, input.toWellFormed());
  }

  #guarded(input: object, path: string, depth: number): JsonValue | undefined {
    if (this.#open.has(input)) return this.#changed('cycle', path, '[circular]');
    if (depth >= JSON_DEPTH_MAX) return this.#changed('depth', path, '[nested too deep]');
    if (++this.#nodes > NODES_MAX) return this.#changed('size', path, '[too many values]');
    this.#open.add(input);
    try {
      return this.#object(input, path, depth);
    } catch (thrown) {
      return this.#changed('throws', path, `[unreadable: ${messageOf(thrown).toWellFormed().slice(0, 200)}]`);
    } finally {
      this.#open.delete(input);
    }
  }

  #object(input: object, path: string, depth: number): JsonValue | undefined {
    if (Array.isArray(input)) return this.#array(input, path, depth);
    if (input instanceof Date) return this.#date(input, path);
    if (input instanceof Map) return this.#map(input, path, depth);
    if (input instanceof Set) {
      this.#note('collection', path);
      return this.#array([...input], path, depth);
    }
    if (ArrayBuffer.isView(input) || input instanceof ArrayBuffer) return this.#bytes(input, path);
    if (input instanceof Error) return this.#error(input, path, depth);
    const toJSON = (input as { toJSON?: unknown }).toJSON;
    if (typeof toJSON === 'function') return this.convert(toJSON.call(input), path, depth + 1);
    return this.#properties(input, Object.keys(input), path, depth);
  }

  #array(input: readonly unknown[], path: string, depth: number): JsonValue {
    const result: JsonValue[] = [];
    for (let index = 0; index < input.length; index += 1) {
      result.push(this.#member(input, String(index), `${path}/${index}`, depth) ?? null);
    }
    return result;
  }

  #properties(input: object, keys: readonly string[], path: string, depth: number): JsonObject {
    const result: JsonObject = {};
    for (const key of keys) {
      const safeKey = this.#text(key, path);
      const value = this.#member(input, key, `${path}/${pointerToken(safeKey)}`, depth);
      if (value !== undefined) setOwn(result, safeKey, value);
    }
    return result;
  }

  /** Reads one property; a getter that throws costs that property only. */
  #member(input: object, key: string, path: string, depth: number): JsonValue | undefined {
    let value: unknown;
    try {
      value = (input as { [key: string]: unknown })[key];
    } catch {
      return this.#changed('throws', path, undefined);
    }
    return this.convert(value, path, depth + 1);
  }

  #map(input: Map<unknown, unknown>, path: string, depth: number): JsonValue {
    this.#note('collection', path);
    const entries = [...input];
    if (!entries.every(([key]) => typeof key === 'string')) return this.#array(entries, path, depth);
    const result: JsonObject = {};
    for (const [key, value] of entries as [string, unknown][]) {
      const safeKey = this.#text(key, path);
      setOwn(result, safeKey, this.convert(value, `${path}/${pointerToken(safeKey)}`, depth + 1) ?? null);
    }
    return result;
  }

  #date(input: Date, path: string): JsonValue {
    if (Number.isNaN(input.getTime())) return this.#changed('date', path, null);
    return this.#changed('date', path, input.toISOString());
  }

  #bytes(input: ArrayBufferView | ArrayBuffer, path: string): JsonValue {
    const bytes = ArrayBuffer.isView(input)
      ? Buffer.from(input.buffer, input.byteOffset, input.byteLength)
      : Buffer.from(input);
    return this.#changed('bytes', path, { base64: bytes.toString('base64'), bytes: bytes.length });
  }

  #error(input: Error, path: string, depth: number): JsonValue {
    this.#note('error', path);
    const own = this.#properties(
      input,
      Object.keys(input).filter((key) => key !== 'name' && key !== 'message'),
      path,
      depth,
    );
    const head: JsonObject = {
      name: this.#text(String(input.name), path),
      message: this.#text(String(input.message), path),
    };
    const cause =
      input.cause === undefined ? undefined : this.convert(input.cause, `${path}/cause`, depth + 1);
    return cause === undefined ? { ...head, ...own } : { ...head, ...own, cause };
  }

  #note(kind: JsonChangeKind, path: string): void {
    if (this.changes.length < CHANGES_MAX) this.changes.push({ kind, path });
  }

  #changed<T>(kind: JsonChangeKind, path: string, value: T): T {
    this.#note(kind, path);
    return value;
  }
}

function pointerToken(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}
