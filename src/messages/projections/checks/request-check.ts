/**
 * Shared by the checks of provider requests: the violation type, and helpers to inspect a value of unknown shape.
 *
 * The checks accept requests of any origin. They never throw, and they share no code with the projections, so that a
 * mistake in one implementation of the rules shows in the other.
 */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { RequestRule } from './request-rules.js';

/** One reason why a provider would reject a request. */
export interface RequestViolation {
  /** Stable code of the rule: the API, then section and number in the table of `docs/legality.md`. */
  readonly rule: string;
  /** Place in the request, similar to a JSON Pointer: `messages/3/content/0`. */
  readonly path: string;
  /** One plain sentence with the meaning of the API's own error. */
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

/** An object that JSON can hold: no URL, no bytes, no class instance. */
export function isPlainObject(value: unknown): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Only white space. Unlike in a legality rule, invisible characters count as text, because the APIs accept them. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

export function isFilledText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const QUOTE_MAX = 64;

/** Any value, shortened to one line for use in a sentence. */
export function quote(value: unknown): string {
  if (typeof value !== 'string') return value === null ? 'null' : typeof value;
  const short = value.length > QUOTE_MAX ? `${value.slice(0, QUOTE_MAX)}…` : value;
  return JSON.stringify(short.toWellFormed());
}
