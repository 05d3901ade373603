/** A value as JSON text, for values that nobody checked: writing one that is nested very deep would overflow the stack. */
import type { JsonValue } from '../../../core/json.js';

const TOO_DEEP = '[nested too deep]';

export function jsonTextOf(value: JsonValue): string {
  return tryJsonTextOf(value) ?? TOO_DEEP;
}

/** Undefined for what is nested too deep. */
export function tryJsonTextOf(value: JsonValue): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
