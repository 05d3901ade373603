/** JSON Merge Patch (RFC 7396): named members are replaced, `null` removes a member, objects are merged recursively. */
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from './json.js';

/** Returns a new value. Neither argument is changed; unchanged parts are shared with `target`. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  const merged = isJsonObject(target) ? copyOf(target) : {};
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) delete merged[key];
    else setOwn(merged, key, mergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, change));
  }
  return merged;
}

/** A spread would do, except for a key named `__proto__`. */
function copyOf(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(object)) setOwn(copy, key, value);
  return copy;
}
