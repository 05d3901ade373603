/** Decides on operations against the newest state: the changes, or why they are refused. No I/O. */
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';
import type { KeyChange, KeyEffect } from './key-change.js';
import { type Authorship, KeyLayer, type KeyState } from './key-layer.js';
import { assertKey, checkedJson, invalid, limitExceeded, type SharedLimits } from './shared-limits.js';

/**
 * Precondition on a key's version. A number: only at this version. 0: only if the key has no value. A list:
 * only at one of these. `*`: only if the key has a value.
 */
export type VersionCondition = number | readonly number[] | '*';

interface OnKey {
  readonly key: string;
  readonly ifVersion?: VersionCondition;
}

/** One operation of a batch: what to do with a key, and `ifVersion` as its precondition. */
export type StateOperation =
  | (OnKey & { readonly op: 'set'; readonly value: unknown })
  | (OnKey & { readonly op: 'delete' })
  /** `delta` is 1 unless it is given. */
  | (OnKey & { readonly op: 'increment'; readonly delta?: number })
  | (OnKey & { readonly op: 'append'; readonly items: readonly unknown[] })
  /** Merge patch of RFC 7396. */
  | (OnKey & { readonly op: 'merge'; readonly patch: object });

/** An operation with valid fields. */
export interface CheckedOperation {
  readonly key: string;
  readonly effect: KeyEffect;
  readonly ifVersion: VersionCondition | null;
}

/**
 * Copies the operation, so that later changes by the caller have no effect. @throws INVALID_ARGUMENT,
 * LIMIT_EXCEEDED, SENSITIVE_DATA
 */
export function checkOperation(
  operation: StateOperation,
  limits: SharedLimits,
  redactor: StorageRedactor | null = null,
): CheckedOperation {
  if (typeof operation !== 'object' || operation === null) throw invalid('operation', 'it is an object');
  assertKey(operation.key);
  const { key, ifVersion = null } = operation;
  if (ifVersion !== null && !isCondition(ifVersion))
    throw invalid('ifVersion', 'it is a version, 0, a list of these, or "*"');
  const effect = effectOf(operation, limits);
  return { key, effect: redactor ? redacted(key, effect, redactor) : effect, ifVersion };
}

function isCondition(given: VersionCondition): boolean {
  const versions = typeof given === 'number' ? [given] : given;
  if (!Array.isArray(versions)) return given === '*';
  return versions.length > 0 && versions.every((version) => Number.isSafeInteger(version) && version >= 0);
}

/** @param version 0 if there is no value */
export function holds(condition: VersionCondition, version: number): boolean {
  if (condition === '*') return version !== 0;
  return typeof condition === 'number' ? condition === version : condition.includes(version);
}

/** With its key: the value of `api_key` is a secret, whatever its form. */
function redacted(key: string, effect: KeyEffect, redactor: StorageRedactor): KeyEffect {
  const { op } = effect;
  if (op === 'set') return { op, value: redactor.json<JsonObject>({ [key]: effect.value })[key]! };
  if (op === 'append') return { op, items: redactor.json([...effect.items]) };
  return op === 'merge' ? { op, patch: redactor.json(effect.patch) } : effect;
}

function effectOf(operation: StateOperation, limits: SharedLimits): KeyEffect {
  switch (operation.op) {
    case 'set':
      return { op: 'set', value: checkedJson('value', operation.value, limits) };
    case 'delete':
      return { op: 'delete' };
    case 'increment':
      return { op: 'increment', delta: checkedDelta(operation.delta ?? 1) };
    case 'append':
      return { op: 'append', items: checkedItems(operation.items, limits) };
    case 'merge':
      return { op: 'merge', patch: checkedPatch(operation.patch, limits) };
    default:
      throw invalid('op', 'it is set, delete, increment, append or merge');
  }
}

function checkedDelta(delta: unknown): number {
  if (!Number.isSafeInteger(delta)) throw invalid('delta', 'it is a whole number that JSON holds exactly');
  return (delta as number) + 0; // JSON has no -0
}

function checkedItems(items: unknown, limits: SharedLimits): JsonValue[] {
  if (!Array.isArray(items)) throw invalid('items', 'it is a list');
  return checkedJson('items', items, limits) as JsonValue[];
}

export function checkedPatch(patch: unknown, limits: SharedLimits): JsonObject {
  const value = checkedJson('patch', patch, limits);
  if (isJsonObject(value)) return value;
  throw invalid('patch', 'it is an object (RFC 7396)');
}

/** The key is not at the version that the operation requires. */
export interface VersionConflict {
  readonly key: string;
  /** 0 if the key has no value. */
  readonly currentVersion: number;
  readonly currentValue: JsonValue | undefined;
  readonly ifVersion: VersionCondition;
}

/** The outcome of one operation: a change, no change, or a conflict. */
export type Outcome =
  | { readonly kind: 'changed'; readonly change: KeyChange; readonly state: KeyState }
  | { readonly kind: 'unchanged'; readonly version: number }
  | { readonly kind: 'conflict'; readonly conflict: VersionConflict };

/** Applies the operation to the layer if it is valid. @throws TYPE_MISMATCH, LIMIT_EXCEEDED */
export function decide(
  layer: KeyLayer,
  { key, effect, ifVersion }: CheckedOperation,
  author: Authorship,
  limits: SharedLimits,
): Outcome {
  const before = layer.get(key);
  const currentVersion = before?.value === undefined ? 0 : before.version;
  if (ifVersion !== null && !holds(ifVersion, currentVersion)) {
    return {
      kind: 'conflict',
      conflict: { key, currentVersion, currentValue: before?.value, ifVersion },
    };
  }
  if (effect.op === 'delete' && currentVersion === 0)
    return { kind: 'unchanged', version: before?.version ?? 0 };
  assertFits(key, before?.value, effect);
  const change = { key, version: layer.nextVersion(key), effect };
  const trial = new KeyLayer(layer);
  const state = trial.apply(change, author);
  assertWithin(layer, trial, state, limits);
  trial.settle();
  return { kind: 'changed', change, state };
}

const WANTED: Partial<Record<KeyEffect['op'], string>> = {
  increment: 'number',
  append: 'array',
  merge: 'object',
};

function assertFits(key: string, before: JsonValue | undefined, effect: KeyEffect): void {
  const wanted = WANTED[effect.op];
  const type = typeOf(before);
  if (before !== undefined && wanted !== undefined && type !== wanted)
    throw mismatch(
      key,
      effect.op,
      type,
      `it holds ${article(type)}, and ${effect.op} needs ${article(wanted)}`,
    );
  if (effect.op !== 'increment') return;
  const sum = Number(before ?? 0) + effect.delta;
  if (Number.isSafeInteger(before ?? 0) && Number.isSafeInteger(sum)) return;
  throw mismatch(
    key,
    effect.op,
    type,
    `${String(before ?? 0)} and ${effect.delta} are no whole numbers with a sum that JSON holds exactly`,
  );
}

function typeOf(value: JsonValue | undefined): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function article(type: string): string {
  return type === 'null' ? type : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function mismatch(key: string, op: string, type: string, why: string): RekindleError {
  return new RekindleError('TYPE_MISMATCH', `${JSON.stringify(key)} cannot take ${op}: ${why}.`, {
    details: { key, op, type },
  });
}

/** A change that does not enlarge the state is never refused, even if the limits were lowered. */
function assertWithin(
  before: KeyLayer,
  after: KeyLayer,
  { key, bytes }: KeyState,
  limits: SharedLimits,
): void {
  const name = JSON.stringify(key);
  if (after.keys > limits.keys && after.keys > before.keys)
    throw limitExceeded('keys', limits.keys, after.keys, `${name} would be one key too many`);
  if (bytes > limits.valueBytes && bytes > (before.get(key)?.bytes ?? 0))
    throw limitExceeded(
      'valueBytes',
      limits.valueBytes,
      bytes,
      `The value of ${name} is too large, in bytes`,
    );
  if (after.bytes > limits.totalBytes && after.bytes > before.bytes)
    throw limitExceeded(
      'totalBytes',
      limits.totalBytes,
      after.bytes,
      `With ${name} the state is too large, in bytes`,
    );
}

/** Longest value in an error text, in characters. */
const SHOWN_MAX = 200;

export function conflictError({
  key,
  currentVersion,
  currentValue,
  ifVersion,
}: VersionConflict): RekindleError {
  const text = JSON.stringify(currentValue) ?? '';
  const shown = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX).toWellFormed()}…` : text;
  const now =
    currentVersion === 0 ? 'has no value' : `is at version ${currentVersion}, with the value ${shown}`;
  const message = `${JSON.stringify(key)} ${now}. The change needs ${needOf(ifVersion)}.`;
  return new RekindleError('DOCUMENT_CONFLICT', message, {
    details: {
      key,
      ifVersion: typeof ifVersion === 'object' ? [...ifVersion] : ifVersion,
      currentVersion,
      ...(currentValue === undefined ? {} : { currentValue: structuredClone(currentValue) }),
    },
  });
}

function needOf(condition: VersionCondition): string {
  if (condition === '*') return 'a value';
  if (condition === 0) return 'a key without a value';
  return typeof condition === 'number'
    ? `version ${condition}`
    : `one of the versions ${condition.join(', ')}`;
}
