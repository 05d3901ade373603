/** What can be done to one key, and what it makes of the value. Pure: the journal is replayed with it. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { mergePatch } from '../../core/merge-patch.js';

/** As the journal holds it: what is new, not what it leads to. */
export type KeyEffect =
  | { readonly op: 'set'; readonly value: JsonValue }
  | { readonly op: 'delete' }
  | { readonly op: 'increment'; readonly delta: number }
  | { readonly op: 'append'; readonly items: readonly JsonValue[] }
  | { readonly op: 'merge'; readonly patch: JsonObject };

export type KeyOperation = KeyEffect['op'];

/** One effect, with its place in the line of changes of the key. */
export interface KeyChange {
  readonly key: string;
  /** From 1, one more with each change of the key, also after it was deleted. */
  readonly version: number;
  readonly effect: KeyEffect;
}

/** Names, numbers and quotes of one change in the journal, about. */
const CHANGE_BYTES = 100;

/** The value after the effect; undefined where there is none. What does not fit was refused before it was stored. */
export function valueAfter(before: JsonValue | undefined, effect: KeyEffect): JsonValue | undefined {
  switch (effect.op) {
    case 'set':
      return effect.value;
    case 'delete':
      return undefined;
    case 'increment':
      return (typeof before === 'number' ? before : 0) + effect.delta;
    case 'append':
      return Array.isArray(before) ? before.concat(effect.items) : [...effect.items]; // a spread would take ten times as long
    case 'merge':
      return mergePatch(before, effect.patch);
  }
}

/** Bytes of the value as JSON, without walking through a long list for each item that is added. */
export function bytesAfter(
  before: { readonly value: JsonValue | undefined; readonly bytes: number },
  effect: KeyEffect,
  after: JsonValue | undefined,
): number {
  if (after === undefined) return 0;
  if (effect.op === 'append' && Array.isArray(before.value)) {
    const separators = before.value.length > 0 && effect.items.length > 0 ? 1 : 0;
    return before.bytes + jsonBytes(effect.items as JsonValue[]) - 2 + separators;
  }
  return jsonBytes(after);
}

/** What an effect brings into the journal, about. */
export function payloadBytes({ key, effect }: Pick<KeyChange, 'key' | 'effect'>): number {
  return CHANGE_BYTES + Buffer.byteLength(key) + effectBytes(effect);
}

function effectBytes(effect: KeyEffect): number {
  switch (effect.op) {
    case 'set':
      return jsonBytes(effect.value);
    case 'append':
      return jsonBytes(effect.items as JsonValue[]);
    case 'merge':
      return jsonBytes(effect.patch);
    default:
      return 0;
  }
}

/** Of values that are asked for more than once: when they are decided on, queued, applied. They never change. */
const knownBytes = new WeakMap<object, number>();

function jsonBytes(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return Buffer.byteLength(JSON.stringify(value));
  let bytes = knownBytes.get(value);
  if (bytes === undefined) knownBytes.set(value, (bytes = Buffer.byteLength(JSON.stringify(value))));
  return bytes;
}

export function encodeChange({ key, version, effect }: KeyChange): JsonObject {
  return { key, version, ...(effect as unknown as JsonObject) };
}

/** Null for what is no change. */
export function decodeChange(row: JsonValue): KeyChange | null {
  if (!isJsonObject(row)) return null;
  const { key, version } = row;
  const effect = decodeEffect(row);
  return typeof key === 'string' && typeof version === 'number' && effect ? { key, version, effect } : null;
}

function decodeEffect({ op, value, delta, items, patch }: JsonObject): KeyEffect | null {
  if (op === 'set' && value !== undefined) return { op, value };
  if (op === 'delete') return { op };
  if (op === 'increment' && typeof delta === 'number') return { op, delta };
  if (op === 'append' && Array.isArray(items)) return { op, items };
  if (op === 'merge' && isJsonObject(patch)) return { op, patch };
  return null;
}
