/** The operations on one key and their effect on its value. Pure, because the journal is replayed with it. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { mergePatch } from '../../core/merge-patch.js';

/** An effect as the journal stores it: the operation, not the resulting value. */
export type KeyEffect =
  | { readonly op: 'set'; readonly value: JsonValue }
  | { readonly op: 'delete' }
  | { readonly op: 'increment'; readonly delta: number }
  | { readonly op: 'append'; readonly items: readonly JsonValue[] }
  | { readonly op: 'merge'; readonly patch: JsonObject };

/** Name of an operation on a key. */
export type KeyOperation = KeyEffect['op'];

/** One effect, with its version of the key. */
export interface KeyChange {
  readonly key: string;
  /** Starts at 1 and grows by one with each change of the key, also after a deletion. */
  readonly version: number;
  readonly effect: KeyEffect;
}

/** Approximate bytes of names, numbers and quotes of one change in the journal. */
const CHANGE_BYTES = 100;

/**
 * The value after the effect; undefined if there is none. Effects that do not fit are refused before they are
 * stored.
 */
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

/** Bytes of the value as JSON, without traversing a long list for each added item. */
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

/** Approximate bytes that an effect adds to the journal. */
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

/** Sizes of immutable values that are needed several times: at the decision, in the queue, when applied. */
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

/** Null if it is not a change. */
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
