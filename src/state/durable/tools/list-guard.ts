/**
 * A merge patch replaces a list as a whole, and a pointer names an item by its place. Both would undo what others
 * changed since the model read the list, so such a change needs the version that it read.
 */
import { isJsonObject, type JsonValue } from '../../../core/json.js';
import { pointerParts, valueAt } from '../../../core/json-pointer.js';

/** True if the change replaces or removes a list that has items, or names one of its items. */
export function needsVersion(document: JsonValue, pointer: string, patch: JsonValue): boolean {
  return namesItem(document, pointer) || replacesList(valueAt(document, pointer), patch);
}

function namesItem(document: JsonValue, pointer: string): boolean {
  const parts = pointerParts(pointer) ?? [];
  let value: JsonValue | undefined = document;
  for (const part of parts) {
    if (Array.isArray(value)) return part !== '-';
    value = isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return false;
}

function replacesList(target: JsonValue | undefined, patch: JsonValue): boolean {
  if (Array.isArray(target)) return target.length > 0;
  if (!isJsonObject(target) || !isJsonObject(patch)) return false;
  return Object.entries(patch).some(
    ([key, change]) => Object.hasOwn(target, key) && replacesList(target[key], change),
  );
}
