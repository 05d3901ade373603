import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { runParameters } from '../property/seed.js';

describe('canonicalJson', () => {
  it('sorts keys by UTF-16 code units, not by code points or by locale', () => {
    const keys = { '\ufb33': 6, '\ud83d\ude00': 5, '\u20ac': 4, '\u00f6': 3, '1': 1, '\r': 0, '\u0080': 2 };
    expect(canonicalJson(keys)).toBe(
      '{"\\r":0,"1":1,"\u0080":2,"\u00f6":3,"\u20ac":4,"\ud83d\ude00":5,"\ufb33":6}',
    );
  });

  it('sorts the keys of nested objects and keeps the order of lists', () => {
    expect(canonicalJson({ b: [{ z: 1, a: 2 }, 'x'], a: {} })).toBe('{"a":{},"b":[{"a":2,"z":1},"x"]}');
  });

  it.each([
    [333333333.3333333, '333333333.3333333'],
    [1e30, '1e+30'],
    [4.5, '4.5'],
    [2e-3, '0.002'],
    [0.000000000000000000000000001, '1e-27'],
    [1e21, '1e+21'],
    [999999999999999900000, '999999999999999900000'],
    [-0, '0'],
    [9007199254740991, '9007199254740991'],
    [5e-324, '5e-324'],
  ])('prints the number %d as %s', (number, text) => {
    expect(canonicalJson(number)).toBe(text);
  });

  it('escapes only what JSON requires', () => {
    expect(canonicalJson('\u20ac$\u000f\nA\'B"\\\\"/\u2028')).toBe(
      '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\u2028"',
    );
  });

  it('leaves out properties without a value, as JSON.stringify does', () => {
    const value = { a: 1, b: undefined } as unknown as JsonObject;
    expect(canonicalJson(value)).toBe('{"a":1}');
  });

  it('writes a value that is nested deeper than the call stack', () => {
    let deep: JsonValue = 1;
    for (let depth = 0; depth < 200_000; depth += 1) deep = [deep];
    expect(canonicalJson(deep)).toHaveLength(400_001);
  });

  it('gives one text for equal values, and a text that parses to the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (input) => {
        const value = JSON.parse(JSON.stringify(input)) as JsonValue;
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toStrictEqual(value);
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
      runParameters('canonical-json', 500),
    );
  });
});

/** The same value with its keys in another order. */
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]));
}
