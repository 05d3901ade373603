/**
 * Parses JSON whose integers may be larger than a JavaScript number can hold: such an integer becomes text with the same
 * digits. `JSON.parse` would round it, and the model would be shown another id than it gave.
 */
import type { JsonValue } from './json.js';

/** A run of digits that could be beyond 2^53; most texts have none, and are parsed as they are. */
const MAYBE_LARGE = /\d{16}/;
/** Strings are matched so that digits inside them are left alone. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** @throws SyntaxError, as `JSON.parse` does */
export function parseJsonKeepingDigits(text: string): JsonValue {
  return JSON.parse(MAYBE_LARGE.test(text) ? quoteLargeIntegers(text) : text) as JsonValue;
}

/** The same JSON text with each integer that would be rounded written as a string of its digits. */
export function quoteLargeIntegers(text: string): string {
  return text.replace(STRING_OR_NUMBER, (token) => (isLargeInteger(token) ? `"${token}"` : token));
}

function isLargeInteger(token: string): boolean {
  return /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
}
