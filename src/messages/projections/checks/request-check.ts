/**
 * What the checks of provider requests share: the violation, and ways to look into a value of which nothing is known yet.
 *
 * The checks take requests of any origin. They never throw, and they know nothing of the projections: two readings of the same
 * rules, so that a mistake in one shows in the other.
 */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { RequestRule } from './request-rules.js';

export interface RequestViolation {
  /** Stable code of the rule: the API, then section and number in the table of `docs/legality.md`. */
  readonly rule: string;
  /** JSON-pointer-like place in the request: `messages/3/content/0`. */
  readonly path: string;
  /** One plain sentence, as the API's refusal would mean it. */
  readonly reason: string;
}

export type Report = (rule: RequestRule, path: string, reason: string) => void;

export function violationsOf(check: (report: Report) => void): RequestViolation[] {
  const found: RequestViolation[] = [];
  check((rule, path, reason) => {
    found.push({ rule, path, reason });
  });
  return found;
}

export function fieldOf(value: unknown, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What JSON can hold as an object: no URL, no bytes, no instance of a class. */
export function isPlainObject(value: unknown): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** No characters but white space; other than in a legality rule, invisible characters count as text for the APIs. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

export function isFilledText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const QUOTE_MAX = 64;

/** A value for a sentence: short, on one line, whatever it is. */
export function quote(value: unknown): string {
  if (typeof value !== 'string') return value === null ? 'null' : typeof value;
  const short = value.length > QUOTE_MAX ? `${value.slice(0, QUOTE_MAX)}…` : value;
  return JSON.stringify(short.toWellFormed());
}
