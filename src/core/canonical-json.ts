/**
 * Canonical JSON (RFC 8785): keys sorted by UTF-16 code units, no white space, numbers as ECMAScript
 * prints them. Two values are equal for this library when their canonical texts are equal.
 *
 * Walks with an explicit stack, because stored values may be nested deeper than the call stack allows.
 */
import type { JsonValue } from './json.js';

type Frame =
  | { readonly kind: 'array'; readonly items: readonly JsonValue[]; index: number }
  | {
      readonly kind: 'object';
      readonly value: { [key: string]: JsonValue };
      readonly keys: string[];
      index: number;
    };

export function canonicalJson(value: JsonValue): string {
  const out: string[] = [];
  const stack: Frame[] = [];
  open(value, out, stack);
  while (stack.length > 0) step(stack, out);
  return out.join('');
}

function open(value: JsonValue, out: string[], stack: Frame[]): void {
  if (value === null || typeof value !== 'object') {
    out.push(JSON.stringify(value));
  } else if (Array.isArray(value)) {
    out.push('[');
    stack.push({ kind: 'array', items: value, index: 0 });
  } else {
    out.push('{');
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    stack.push({ kind: 'object', value, keys: keys.sort(), index: 0 });
  }
}

function step(stack: Frame[], out: string[]): void {
  const frame = stack[stack.length - 1]!;
  const length = frame.kind === 'array' ? frame.items.length : frame.keys.length;
  if (frame.index === length) {
    out.push(frame.kind === 'array' ? ']' : '}');
    stack.pop();
    return;
  }
  if (frame.index > 0) out.push(',');
  if (frame.kind === 'array') {
    open(frame.items[frame.index++]!, out, stack);
  } else {
    const key = frame.keys[frame.index++]!;
    out.push(JSON.stringify(key), ':');
    open(frame.value[key]!, out, stack);
  }
}
