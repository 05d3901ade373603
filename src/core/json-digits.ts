/**
 * Parses JSON with numbers that have more digits than a JavaScript number can hold. Such an integer becomes a text with
 * the same digits: `JSON.parse` would round it, and the model would see another id than it gave. A number too large for
 * a double (`1e400`) also becomes a text, because `JSON.parse` turns it into Infinity, which is not JSON.
 */
import type { JsonValue } from './json.js';
import { endOfString } from './json-text-depth.js';

/** Matches only the start of a string. Its end is found without a regular expression, which would overflow on a long one. */
const QUOTE_OR_NUMBER = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Parses, or returns undefined. */
export function tryParseJsonKeepingDigits(text: string): JsonValue | undefined {
  if (isCutOff(text)) return undefined;
  try {
    return parseJsonKeepingDigits(text);
  } catch {
    return undefined;
  }
}

/** A text that was cut off rarely ends with the bracket that matches its first. This check is much cheaper than a parse error. */
function isCutOff(text: string): boolean {
  const trimmed = text.trim();
  const end = ENDS.get(trimmed[0] ?? '');
  return end !== undefined && !trimmed.endsWith(end);
}

const ENDS: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['[', ']'],
  ['"', '"'],
]);

/** @throws SyntaxError, as `JSON.parse` does */
export function parseJsonKeepingDigits(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue;
  // Most texts have no such number, and checking the values is faster than scanning every character.
  return hasRoundedNumber(value) ? (JSON.parse(quoteLargeIntegers(text)) as JsonValue) : value;
}

/** The same JSON text, with each integer that would be rounded written as a string of its digits. */
export function quoteLargeIntegers(text: string): string {
  const pieces: string[] = [];
  const pattern = new RegExp(QUOTE_OR_NUMBER);
  let written = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const [token] = found;
    if (token === '"') {
      pattern.lastIndex = endOfString(text, found.index);
    } else if (isRoundedToken(token)) {
      pieces.push(text.slice(written, found.index), `"${token}"`);
      written = found.index + token.length;
    }
  }
  return written === 0 ? text : `${pieces.join('')}${text.slice(written)}`;
}

function isRoundedToken(token: string): boolean {
  if (token.length < 4 || !NUMBER.test(token)) return false;
  const value = Number(token);
  if (!isRounded(value)) return false;
  // A number with a point or an exponent was printed by a program. Leave it alone if it survives the round trip.
  return /^-?\d+$/.test(token) || !Number.isFinite(value) || digitsOf(token) !== digitsOf(String(value));
}

/** The significant digits, however the number is written. */
function digitsOf(number: string): string {
  const digits = number.replace(/[eE].*$/, '').replace(/[-.]/g, '');
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1; // a regular expression for zeros at the end would rescan them many times
  return digits.slice(start, end);
}

function hasRoundedNumber(top: JsonValue): boolean {
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
  return typeof value === 'number' && !Number.isSafeInteger(value) && !hasFraction(value);
}

function hasFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value);
}
