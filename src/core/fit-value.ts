/**
 * Fits a value into a budget of tokens, cutting only at the boundaries of values. A list keeps whole items and an
 * object keeps whole properties; each notes how many were left out. A text is kept whole or left out. The result is
 * always valid JSON.
 */
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from './json.js';

export interface FittedValue {
  readonly value: JsonValue;
  /** Number of items and properties left out, at any depth. */
  readonly leftOut: number;
}

/** Tokens of a value as it will appear in the text. */
export type CountValue = (value: JsonValue) => number;

/** Tokens for the note about what was left out, and for a list or an object apart from its contents. */
const MARKER_TOKENS = 14;
/** A token is never longer than this many characters, so a value longer than the whole budget is not counted. */
const TOKEN_LENGTH_MAX = 128;
/** A part with less room than this is left out as a whole. */
const PART_TOKENS_MIN = 24;
const LEFT_OUT_KEY = '[left out]';

/** Null when nothing of the value fits. */
export function fitValue(value: JsonValue, budget: number, count: CountValue): FittedValue | null {
  return isWithin(value, budget, count) ? { value, leftOut: 0 } : fitPart(value, budget, count);
}

/** For a value already known not to fit as a whole: counting it again would double the work at every depth. */
function fitPart(value: JsonValue, budget: number, count: CountValue): FittedValue | null {
  if (Array.isArray(value)) return fitList(value, budget - MARKER_TOKENS, count);
  return isJsonObject(value) ? fitObject(value, budget - MARKER_TOKENS, count) : null;
}

/** Counts tokens only if the value could fit. */
export function isWithin(value: JsonValue, budget: number, count: CountValue): boolean {
  return mayBeWithin(value, budget) && (budget === Number.POSITIVE_INFINITY || count(value) <= budget);
}

/** False only if the value is certainly too large. Counts no tokens. */
export function mayBeWithin(value: JsonValue, budget: number): boolean {
  if (budget === Number.POSITIVE_INFINITY) return true;
  return budget > 0 && sizeUpTo(value, budget * TOKEN_LENGTH_MAX) <= budget * TOKEN_LENGTH_MAX;
}

/** The first items that fit. If not even the first one fits, as much of it as does. */
function fitList(items: readonly JsonValue[], budget: number, count: CountValue): FittedValue | null {
  const kept: JsonValue[] = [];
  let left = budget;
  for (const item of items) {
    if (!isWithin(item, left, count)) break;
    kept.push(item);
    left -= count(item) + 1;
  }
  let leftOut = items.length - kept.length;
  if (items[0] !== undefined && kept.length === 0 && left >= PART_TOKENS_MIN) {
    const part = fitPart(items[0], left, count);
    if (part) {
      kept.push(part.value);
      leftOut += part.leftOut - 1;
    }
  }
  if (kept.length === 0) return null;
  const rest = items.length - kept.length;
  return {
    value: rest > 0 ? [...kept, `[${rest} more ${rest === 1 ? 'item' : 'items'} left out]`] : kept,
    leftOut,
  };
}

/** Properties in order: those that fit, those that fit in part, and the number of the others. */
function fitObject(object: JsonObject, budget: number, count: CountValue): FittedValue | null {
  const kept: JsonObject = {};
  let left = budget;
  let missing = 0;
  let leftOut = 0;
  for (const [key, value] of Object.entries(object)) {
    const room = left - count(key) - 2;
    const whole = isWithin(value, room, count);
    const part = whole ? { value, leftOut: 0 } : room >= PART_TOKENS_MIN ? fitPart(value, room, count) : null;
    if (!part) missing += 1;
    else {
      setOwn(kept, key, part.value);
      left = room - count(part.value);
    }
    leftOut += part?.leftOut ?? 1;
  }
  if (Object.keys(kept).length === 0) return null;
  if (missing > 0)
    setOwn(kept, markerKey(object), `${missing} more ${missing === 1 ? 'property' : 'properties'}`);
  return { value: kept, leftOut };
}

/** A key that the object does not have, so that the marker never replaces a property. */
function markerKey(object: JsonObject): string {
  let key = LEFT_OUT_KEY;
  while (Object.hasOwn(object, key)) key += '…';
  return key;
}

/** Approximate length of the value as JSON. Stops counting beyond `max`. */
function sizeUpTo(value: JsonValue, max: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 4;
  let size = 2;
  for (const [key, item] of Object.entries(value)) {
    size += (Array.isArray(value) ? 1 : key.length + 3) + sizeUpTo(item, max - size);
    if (size > max) return size;
  }
  return size;
}
