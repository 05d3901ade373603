/** Whether a value is what is left of another one when it was cut as `fitValue` cuts. */
import { canonicalJson } from '../../../src/core/canonical-json.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/core/json.js';

const LEFT_OUT = /^\[left out\]…*$/;

/** How many items and properties were taken away; null when it is no valid cut. */
export function leftOutOf(shown: JsonValue, full: JsonValue): number | null {
  if (typeof shown === 'string' && typeof full === 'string' && shown !== full)
    return leftOutOfText(shown, full);
  return leftOutWithin(shown, full);
}

/** A text inside of a value is whole. */
function leftOutWithin(shown: JsonValue, full: JsonValue): number | null {
  if (canonicalJson(shown) === canonicalJson(full)) return 0;
  if (Array.isArray(shown) && Array.isArray(full)) return leftOutOfList(shown, full);
  return isJsonObject(shown) && isJsonObject(full) ? leftOutOfObject(shown, full) : null;
}

/** A value that is a text: its beginning and its end, with the number of characters between them. */
function leftOutOfText(shown: string, full: string): number | null {
  for (const { index, 0: mark, 1: between } of shown.matchAll(/ \[(\d+) characters left out\] /g)) {
    const [head, tail] = [shown.slice(0, index), shown.slice(index + mark.length)];
    const isCut = full.startsWith(head) && full.endsWith(tail);
    if (isCut && head.length + Number(between) + tail.length === full.length) return 1;
  }
  return null;
}

/** Whole items from the first one on, or a part of the first one; then how many more there are. */
function leftOutOfList(shown: readonly JsonValue[], full: readonly JsonValue[]): number | null {
  const marker = /^\[(\d+) more (item|items) left out\]$/.exec(String(shown.at(-1)));
  const kept = marker ? shown.slice(0, -1) : shown;
  const rest = full.length - kept.length;
  if (kept.length === 0 || rest !== Number(marker?.[1] ?? 0)) return null;
  if (marker && (marker[2] === 'item') !== (rest === 1)) return null;
  if (kept.length === 1) return plus(leftOutWithin(kept[0]!, full[0]!), rest);
  const areWhole = kept.every((item, index) => canonicalJson(item) === canonicalJson(full[index]!));
  return areWhole ? rest : null;
}

/** Properties in their order, whole or in part; then how many more there are. */
function leftOutOfObject(shown: JsonObject, full: JsonObject): number | null {
  const names = Object.keys(shown);
  const marker = names.find((name) => LEFT_OUT.test(name) && !Object.hasOwn(full, name));
  const kept = names.filter((name) => name !== marker);
  const order = Object.keys(full).filter((name) => Object.hasOwn(shown, name));
  const rest = Object.keys(full).length - kept.length;
  if (kept.length === 0 || kept.join('\n') !== order.join('\n')) return null;
  const said = rest === 0 ? undefined : `${rest} more ${rest === 1 ? 'property' : 'properties'}`;
  if ((marker === undefined ? undefined : shown[marker]) !== said) return null;
  return kept.reduce<number | null>((sum, name) => plus(leftOutWithin(shown[name]!, full[name]!), sum), rest);
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}
