/**
 * Parses JSON whose integers may be larger than a JavaScript number can hold: such an integer becomes text with the same
 * digits. `JSON.parse` would round it, and the model would be shown another id than it gave.
 */
import type { JsonValue } from './json.js';

/** Strings are matched so that digits inside them are left alone. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** @throws SyntaxError, as `JSON.parse` does */
export function parseJsonKeepingDigits(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue;
  // Most texts have no such number, and looking at the values is faster than looking at every character.
  return hasLargeInteger(value) ? (JSON.parse(quoteLargeIntegers(text)) as JsonValue) : value;
}

/** The same JSON text with each integer that would be rounded written as a string of its digits. */
export function quoteLargeIntegers(text: string): string {
  return text.replace(STRING_OR_NUMBER, (token) => (isLargeInteger(token) ? `"${token}"` : token));
}

function isLargeInteger(token: string): boolean {
  return /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
}

function hasLargeInteger(top: JsonValue): boolean {
  if (typeof top !== 'object' || top === null) return isRounded(top);
  const waiting: object[] = [top];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const key in next) {
      const value = (next as { [key: string]: unknown })[key];
      if (typeof value === 'object' && value !== null) waiting.push(value);
      else if (isRounded(value)) return true;
    }
  }
  return false;
}

function isRounded(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
}
