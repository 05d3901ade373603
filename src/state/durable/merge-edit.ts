/**
 * Merges a person's edit of an older version into the newest one (three-way merge). A change by one side only
 * is taken. If both changed the same place differently, the newest version stays, and the conflict is
 * reported.
 *
 * Lists are merged by the `id` of their items if all have one, and by value if the items are primitives.
 */
import { canonicalJson } from '../../core/canonical-json.js';
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../../core/json.js';

/** A place that a person and agents changed in different ways. */
export interface MergeConflict {
  /** JSON Pointer. */
  readonly path: string;
  /** The person's value; undefined if they removed it. */
  readonly edited: JsonValue | undefined;
  /** The value that stays; undefined if it was removed. */
  readonly kept: JsonValue | undefined;
}

export interface MergedEdit {
  readonly value: JsonObject;
  readonly conflicts: readonly MergeConflict[];
}

type Maybe = JsonValue | undefined;

/**
 * @param base the version that the person opened @param edited what they saved @param current the newest
 * version
 */
export function mergeEdit(base: JsonObject, edited: JsonObject, current: JsonObject): MergedEdit {
  const conflicts: MergeConflict[] = [];
  const value = mergeObjects(base, edited, current, '', conflicts);
  return { value, conflicts };
}

function merge(base: Maybe, edited: Maybe, current: Maybe, path: string, conflicts: MergeConflict[]): Maybe {
  if (isSame(edited, base) || isSame(edited, current)) return current;
  if (isSame(current, base)) return edited;
  if (isJsonObject(edited) && isJsonObject(current))
    return mergeObjects(isJsonObject(base) ? base : {}, edited, current, path, conflicts);
  if (Array.isArray(base) && Array.isArray(edited) && Array.isArray(current)) {
    const merged = mergeLists(base, edited, current, path, conflicts);
    if (merged) return merged;
  }
  conflicts.push({ path, edited, kept: current });
  return current;
}

function mergeObjects(
  base: JsonObject,
  edited: JsonObject,
  current: JsonObject,
  path: string,
  conflicts: MergeConflict[],
): JsonObject {
  const merged: JsonObject = {};
  const keys = new Set([...Object.keys(current), ...Object.keys(edited)]);
  for (const key of keys) {
    const inner = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const value = merge(own(base, key), own(edited, key), own(current, key), inner, conflicts);
    if (value !== undefined) setOwn(merged, key, value);
  }
  return merged;
}

/** Null if the items cannot be identified, or the person changed their order. */
function mergeLists(
  base: readonly JsonValue[],
  edited: readonly JsonValue[],
  current: readonly JsonValue[],
  path: string,
  conflicts: MergeConflict[],
): JsonValue[] | null {
  const [before, theirs, ours] = [keyed(base), keyed(edited), keyed(current)];
  if (!before || !theirs || !ours || !keepsOrder(before, theirs)) return null;
  const merged: JsonValue[] = [];
  for (const [key, item] of ours) {
    const place = `${path}/${merged.length}`;
    const value = merge(before.get(key), theirs.get(key), item, place, conflicts);
    if (value !== undefined) merged.push(value);
  }
  for (const [key, item] of theirs) {
    if (ours.has(key)) continue;
    const value = merge(before.get(key), item, undefined, `${path}/${merged.length}`, conflicts);
    if (value !== undefined) merged.push(value);
  }
  return merged;
}

/** Items by their identity; null if one has none, or two share one. */
function keyed(list: readonly JsonValue[]): Map<string, JsonValue> | null {
  const items = new Map<string, JsonValue>();
  for (const item of list) {
    const key = keyOf(item);
    if (key === null || items.has(key)) return null;
    items.set(key, item);
  }
  return items;
}

function keyOf(item: JsonValue): string | null {
  if (isJsonObject(item)) return typeof item['id'] === 'string' ? `id ${item['id']}` : null;
  return Array.isArray(item) ? null : `value ${canonicalJson(item)}`;
}

function keepsOrder(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): boolean {
  const kept = [...before.keys()].filter((key) => after.has(key));
  const now = [...after.keys()].filter((key) => before.has(key));
  return kept.every((key, index) => key === now[index]);
}

function own(object: JsonObject, key: string): Maybe {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isSame(a: Maybe, b: Maybe): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}
