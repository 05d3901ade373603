/** JSON as a type, and cheap checks on values that come from `JSON.parse`. */

export type JsonPrimitive = string | number | boolean | null;
/** Any value that JSON can hold. */
export type JsonValue = JsonPrimitive | JsonObject | JsonArray;
/** A JSON object. */
export interface JsonObject {
  [key: string]: JsonValue;
}
export type JsonArray = JsonValue[];

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses the text, or returns undefined if it is not valid JSON. */
export function tryParseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The value if it is a text, else `otherwise`. `String(value)` would throw for an object with its own key `toString`. */
export function textOr(value: JsonValue | undefined, otherwise = ''): string {
  return typeof value === 'string' ? value : otherwise;
}

/** Assigns without reaching a prototype: `__proto__` becomes an ordinary own key. */
export function setOwn(target: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}
