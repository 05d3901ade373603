/** What one key is, said in the simplest way: a value, or none, and a version that each change raises by one. */
import { canonicalJson } from '../../src/core/canonical-json.js';
import type { JsonValue } from '../../src/core/json.js';
import type { Answer, Request } from './history.js';

export interface KeyModel {
  readonly version: number;
  readonly value: JsonValue | undefined;
}

export const NO_KEY: KeyModel = { version: 0, value: undefined };

export interface Step {
  readonly answer: Answer;
  /** The same object where nothing changed. */
  readonly next: KeyModel;
}

/** What a request does to a key at one moment. Null where it does not fit the type of the value. */
export function step(state: KeyModel, request: Request): Step | null {
  const { version, value } = state;
  if (request.op === 'get') {
    return {
      answer: value === undefined ? { kind: 'none' } : { kind: 'found', value, version },
      next: state,
    };
  }
  const currentVersion = value === undefined ? 0 : version;
  if (request.ifVersion !== undefined && request.ifVersion !== currentVersion) {
    const shown = value === undefined ? {} : { currentValue: value };
    return { answer: { kind: 'conflict', currentVersion, ...shown }, next: state };
  }
  if (request.op === 'delete') {
    if (value === undefined) return { answer: { kind: 'deleted', was: false }, next: state };
    return { answer: { kind: 'deleted', was: true }, next: { version: version + 1, value: undefined } };
  }
  const after = valueAfter(value, request);
  if (after === undefined) return null;
  const next = { version: version + 1, value: after };
  return { answer: { kind: 'changed', ...next }, next };
}

function valueAfter(
  before: JsonValue | undefined,
  request: Exclude<Request, { op: 'get' | 'delete' }>,
): JsonValue | undefined {
  switch (request.op) {
    case 'set':
      return request.value;
    case 'increment':
      if (before !== undefined && typeof before !== 'number') return undefined;
      return (before ?? 0) + request.delta;
    case 'append':
      if (before !== undefined && !Array.isArray(before)) return undefined;
      return [...(before ?? []), ...request.items];
  }
}

export function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  return canonicalJson(a) === canonicalJson(b);
}

export function isSameAnswer(a: Answer, b: Answer): boolean {
  if (a.kind === 'conflict' && b.kind === 'conflict')
    return a.currentVersion === b.currentVersion && isSame(a.currentValue, b.currentValue);
  if (a.kind === 'deleted' && b.kind === 'deleted') return a.was === b.was;
  if (a.kind === 'found' || a.kind === 'changed')
    return a.kind === b.kind && a.version === b.version && isSame(a.value, b.value);
  return a.kind === b.kind;
}

/** The version of the key that an answer tells, with its value; null where it tells none. */
export function seenIn(answer: Answer): { readonly version: number; readonly value: JsonValue } | null {
  if (answer.kind === 'found' || answer.kind === 'changed')
    return { version: answer.version, value: answer.value };
  if (answer.kind !== 'conflict' || answer.currentValue === undefined) return null;
  return { version: answer.currentVersion, value: answer.currentValue };
}
