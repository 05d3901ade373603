import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/core/json.js';
import {
  parseJsonKeepingDigits,
  quoteLargeIntegers,
  tryParseJsonKeepingDigits,
} from '../../src/core/json-digits.js';
import { runParameters } from '../property/seed.js';

const BIG = '9007199254740993';

const KEPT: readonly (readonly [name: string, text: string, value: JsonValue])[] = [
  ['the whole text', BIG, BIG],
  ['a value', `{"id":${BIG}}`, { id: BIG }],
  ['a list', `[1,${BIG},2]`, [1, BIG, 2]],
  ['something nested', `[{"a":[{"id": ${BIG} }]}]`, [{ a: [{ id: BIG }] }]],
  ['a negative integer', `[-${BIG}]`, [`-${BIG}`]],
  ['2^53 itself, which is not safe either', '[9007199254740992]', ['9007199254740992']],
  ['an integer with an exponent', '[12345678901234567890e2]', ['12345678901234567890e2']],
  ['an integer with a point', `[${BIG}.0]`, [`${BIG}.0`]],
  ['more digits than a number can have', `[${'7'.repeat(400)}]`, ['7'.repeat(400)]],
  ['a number that is too large for any number', '[1e400,-1e400]', ['1e400', '-1e400']],
  ['what stands behind a string with quotes', `["\\"${BIG}\\\\", ${BIG}]`, [`"${BIG}\\`, BIG]],
  ['what stands behind a key of digits', `{"${BIG}":${BIG}}`, { [BIG]: BIG }],
];

const AS_PARSED: readonly (readonly [name: string, text: string])[] = [
  ['the largest safe integer', '[9007199254740991,-9007199254740991]'],
  ['a fraction', '[0.12345678901234567890,1.5,-0.5]'],
  ['a round number with an exponent', '[1e20,2E+3,1e-400]'],
  ['a number that a program printed with all its digits', '[1.2379400392853803e+27]'],
  ['digits in a string', `["${BIG}"]`],
  ['digits in a string, behind an escaped quote', `["\\" ${BIG}"]`],
  ['digits in a string, behind an escaped backslash', `["\\\\", "${BIG}"]`],
  ['digits in a key', `{"${BIG}":1}`],
];

describe('parseJsonKeepingDigits', () => {
  it.each(KEPT)('keeps the digits of %s', (_, text, value) => {
    expect(parseJsonKeepingDigits(text)).toStrictEqual(value);
  });

  it.each(AS_PARSED)('parses %s as JSON.parse does', (_, text) => {
    expect(parseJsonKeepingDigits(text)).toStrictEqual(JSON.parse(text));
    expect(quoteLargeIntegers(text)).toBe(text);
  });

  it.each(['', '{', `[00${BIG}]`, `{${BIG}:1}`, '[1e]', '"open', `[${BIG}`])('refuses %s', (text) => {
    expect(() => parseJsonKeepingDigits(text)).toThrow(SyntaxError);
    expect(tryParseJsonKeepingDigits(text)).toBeUndefined();
  });

  it('keeps a __proto__ key as an ordinary one', () => {
    const value = parseJsonKeepingDigits(`{"__proto__":{"id":${BIG}}}`) as object;
    expect(Object.keys(value)).toStrictEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('is JSON.parse for every text without such a number, and keeps each large integer beside any value', () => {
    const large = fc.bigInt({ min: 2n ** 53n, max: 2n ** 200n });
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), large, fc.boolean(), (json, size, negative) => {
        const digits = String(negative ? -size : size);
        const plain = JSON.parse(json) as JsonValue;
        expect(parseJsonKeepingDigits(`[${digits},${json},${digits}]`)).toMatchObject({
          0: digits,
          2: digits,
        });
        if (!/\d{16}|e\+/.test(json)) expect(parseJsonKeepingDigits(json)).toStrictEqual(plain);
      }),
      runParameters('json-digits', 500),
    );
  });

  it.each<[string, string]>([
    ['a long string', `["${'x'.repeat(20_000_000)}",${BIG}]`],
    ['a long string of escapes', `["${'\\n'.repeat(5_000_000)}",${BIG}]`],
    ['a long string of backslashes', `["${'\\\\'.repeat(5_000_000)}",${BIG}]`],
    ['many short strings', `[${'"a",'.repeat(1_000_000)}${BIG}]`],
    ['a deep list', `${'['.repeat(100_000)}${BIG}${']'.repeat(100_000)}`],
    ['a long integer', `[${'1'.repeat(1_000_000)}]`],
    ['a long integer with zeros inside', `[1${'0'.repeat(1_000_000)}1.0]`],
  ])('takes a time that grows with the length alone for %s', (_, text) => {
    const startMs = performance.now();
    const value = parseJsonKeepingDigits(text);
    expect(performance.now() - startMs).toBeLessThan(5_000);
    expect(Array.isArray(value)).toBe(true);
  });
});

describe('quoteLargeIntegers', () => {
  it.each([`"${'x'.repeat(3_000_000)}`, '"\\'.repeat(300_000), '1e'.repeat(300_000)])(
    'comes back from a long text that is not JSON',
    (text) => {
      expect(quoteLargeIntegers(text)).toBe(text);
    },
  );
});
