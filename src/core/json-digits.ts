/**
 * Parses JSON whose numbers may hold more digits than a JavaScript number: such an integer becomes text with the same digits.
 * `JSON.parse` would round it, and the model would be shown another id than it gave. What is too large to be a number at all
 * (`1e400`) becomes text too: `JSON.parse` makes it Infinity, which is no JSON.
 */
import type { JsonValue } from './json.js';
import { endOfString } from './json-text-depth.js';

/** A string is only entered here; where it ends is looked for without a pattern, which a long one would overflow. */
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

/** What was cut off mostly does not end as it begins; seeing that is much cheaper than an error. */
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
  // Most texts have no such number, and looking at the values is faster than looking at every character.
  return hasRoundedNumber(value) ? (JSON.parse(quoteLargeIntegers(text)) as JsonValue) : value;
}

/** The same JSON text with each integer that would be rounded written as a string of its digits. */
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
  // Written with a point or an exponent it is what some program printed: it is left alone when it comes out as it went in.
  return /^-?\d+$/.test(token) || !Number.isFinite(value) || digitsOf(token) !== digitsOf(String(value));
}

/** The digits that count, whichever way the number is written. */
function digitsOf(number: string): string {
  const digits = number.replace(/[eE].*$/, '').replace(/[-.]/g, '');
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1; // a pattern for zeros at the end looks at each zero again and again
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
