/** Writes an unchecked value as JSON text. A very deep value would overflow the stack of `JSON.stringify`. */
import type { JsonValue } from '../../../core/json.js';

const TOO_DEEP = '[nested too deep]';

export function jsonTextOf(value: JsonValue): string {
  return tryJsonTextOf(value) ?? TOO_DEEP;
}

/** Undefined for a value that is nested too deeply. */
export function tryJsonTextOf(value: JsonValue): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
