/**
 * One walk over a whole request, without recursion: checks that all texts and keys are well-formed, and computes a
 * minimum body size.
 */
import { utf8Length } from '../../../core/bytes.js';
import type { Report } from './request-check.js';
import type { RequestRule } from './request-rules.js';

interface Place {
  readonly value: unknown;
  readonly key: string;
  readonly parent: Place | null;
}

/** More reports add nothing, and a path may be as long as the request is deep. */
const REPORTS_MAX = 50;

/** @returns the UTF-8 bytes of all texts and keys: the body cannot be smaller. */
export function checkText(request: unknown, rule: RequestRule, report: Report): number {
  const seen = new Set<object>();
  const waiting: Place[] = [{ value: request, key: '', parent: null }];
  let bytes = 0;
  let reports = 0;
  const look = (text: string, place: Place, what: string): void => {
    bytes += utf8Length(text);
    if (text.isWellFormed() || reports++ >= REPORTS_MAX) return;
    report(rule, pathOf(place), `The ${what} holds half of a surrogate pair, which is no Unicode text.`);
  };
  for (let place = waiting.pop(); place; place = waiting.pop()) {
    const { value } = place;
    if (typeof value === 'string') look(value, place, 'text');
    if (typeof value !== 'object' || value === null || isOpaque(value) || seen.has(value)) continue;
    seen.add(value);
    const entries = childrenOf(value, place);
    if (!Array.isArray(value)) for (const entry of entries) look(entry.key, entry, 'key');
    // Reversed, so that the request is walked in order.
    for (let i = entries.length - 1; i >= 0; i--) waiting.push(entries[i]!);
  }
  return bytes;
}

function childrenOf(value: object, parent: Place): Place[] {
  if (Array.isArray(value))
    return Array.from(value, (item: unknown, i) => ({ value: item, key: String(i), parent }));
  return Object.entries(value).map(([key, item]: [string, unknown]) => ({ value: item, key, parent }));
}

/** Bytes and URLs in requests that did not come from JSON. */
function isOpaque(value: object): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof URL;
}

function pathOf(place: Place): string {
  const keys: string[] = [];
  for (let at: Place | null = place; at?.parent; at = at.parent) keys.push(escapeKey(at.key));
  return keys.reverse().join('/');
}

function escapeKey(key: string): string {
  return key.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');
}
