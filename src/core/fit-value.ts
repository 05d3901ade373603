/**
 * Fits a value into a budget of tokens, cutting only at the boundaries of values. A list keeps whole items and an
 * object keeps whole properties; each notes how many were left out. A text inside them is kept whole or left out; a value
 * that is a text keeps its beginning and its end. The result is always valid JSON.
 */
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from './json.js';

export interface FittedValue {
  readonly value: JsonValue;
  /** Number of items and properties left out, at any depth; 1 for a text that was cut. */
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

/** A text is not cut to less than this. */
const TEXT_TOKENS_MIN = 32;
/** Share of a cut text that is its beginning. */
const HEAD_SHARE = 0.7;
/** The first guess: most texts have fewer characters a token. */
const TOKEN_CHARACTERS = 6;

/** Null when nothing of the value fits. */
export function fitValue(value: JsonValue, budget: number, count: CountValue): FittedValue | null {
  if (isWithin(value, budget, count)) return { value, leftOut: 0 };
  return typeof value === 'string' ? fitText(value, budget, count) : fitPart(value, budget, count);
}

/** The beginning and the end of a text, with the number of characters between them. */
function fitText(text: string, budget: number, count: CountValue): FittedValue | null {
  if (!(budget >= TEXT_TOKENS_MIN)) return null;
  let kept = Math.min(text.length - 1, Math.floor(budget * TOKEN_CHARACTERS));
  while (kept > 0) {
    const head = boundaryAt(text, Math.floor(kept * HEAD_SHARE));
    const tail = boundaryAt(text, text.length - (kept - head));
    const cut = `${text.slice(0, head)} [${tail - head} characters left out] ${text.slice(tail)}`;
    const tokens = count(cut);
    if (tokens <= budget) return { value: cut, leftOut: 1 };
    kept = Math.min(kept - 1, Math.floor((kept * budget * 0.97) / tokens));
  }
  return null;
}

/** The place, or the one before it if that is in the middle of a character. */
function boundaryAt(text: string, at: number): number {
  const isInside = at > 0 && text.codePointAt(at - 1)! > 0xffff;
  return isInside ? at - 1 : at;
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
