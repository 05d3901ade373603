import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import { type CountValue, fitValue } from '../../src/core/fit-value.js';
import type { JsonValue } from '../../src/core/json.js';
import { loadTokenizer } from '../../src/core/text-tokens.js';
import { xmlJson } from '../../src/workspace/context/xml.js';
import { runParameters } from '../property/seed.js';
import { leftOutOf } from '../workspace/context/cut-of.js';

const countTokens = await loadTokenizer();
const count: CountValue = (value) => countTokens(xmlJson(JSON.stringify(value)));
const long = (times: number) => 'lorem ipsum dolor '.repeat(times);

/** As XML would show it: many escapes, and keys that could be taken for something else. */
const odd = fc.constantFrom(']]>', '<a b="c">', '[left out]', '__proto__', 'constructor', '', '1', long(9));
const anyText = fc.oneof(fc.string({ unit: 'binary' }), odd);
const { value: anyJson } = fc.letrec<{ value: JsonValue; list: JsonValue[]; object: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(anyText, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 12 }),
  object: fc
    .array(fc.tuple(anyText, tie('value')), { maxLength: 12 })
    .map((pairs) => JSON.parse(JSON.stringify(Object.fromEntries(pairs))) as JsonValue),
}));

describe('a value within a budget', () => {
  it('is whole where it fits', () => {
    const value = { a: [1, 2, { b: 'c' }] };
    expect(fitValue(value, count(value), count)).toEqual({ value, leftOut: 0 });
    expect(fitValue(value, Number.POSITIVE_INFINITY, count)).toEqual({ value, leftOut: 0 });
  });

  it.each([0, -1, Number.NEGATIVE_INFINITY, Number.NaN])('of %d tokens is nothing', (budget) => {
    for (const value of [1, '', [], {}, [1], { a: 1 }]) expect(fitValue(value, budget, count)).toBeNull();
  });

  it('keeps whole items of a list, and says how many more there are', () => {
    const value = Array.from({ length: 300 }, (_, n) => n);
    const fitted = fitValue(value, 60, count)!;
    const kept = (fitted.value as JsonValue[]).slice(0, -1);
    expect(kept).toEqual(value.slice(0, kept.length));
    expect((fitted.value as JsonValue[]).at(-1)).toBe(`[${300 - kept.length} more items left out]`);
    expect(fitted.leftOut).toBe(300 - kept.length);
  });

  it('says it of one item', () => {
    expect(fitValue([1, long(100)], 60, count)).toEqual({ value: [1, '[1 more item left out]'], leftOut: 1 });
  });

  it('keeps whole properties of an object, and counts the others', () => {
    const value = { a: 1, text: long(100), b: 2, more: long(100) };
    const shown = { a: 1, b: 2, '[left out]': '2 more properties' };
    expect(fitValue(value, 60, count)).toEqual({ value: shown, leftOut: 2 });
  });

  it('keeps the beginning and the end of a text, and says how many characters are between them', () => {
    const text = `BEGIN ${long(100)}END`;
    const fitted = fitValue(text, 60, count)!;
    const [, head, left, tail] = /^(.*) \[(\d+) characters left out\] (.*)$/.exec(String(fitted.value))!;
    expect([text.startsWith(head!), text.endsWith(tail!), fitted.leftOut]).toEqual([true, true, 1]);
    expect([head!.startsWith('BEGIN'), tail!.endsWith('END')]).toEqual([true, true]);
    expect(head!.length + Number(left) + tail!.length).toBe(text.length);
    expect(count(fitted.value)).toBeLessThanOrEqual(60);
    expect(count(fitted.value)).toBeGreaterThan(40);
  });

  it('cuts a text at whole characters', () => {
    for (let shift = 0; shift < 4; shift += 1) {
      const fitted = fitValue('a'.repeat(shift) + '😀'.repeat(2_000), 50, count)!;
      expect(String(fitted.value).isWellFormed()).toBe(true);
    }
  });

  it('never cuts a text inside of a value', () => {
    expect(fitValue([long(100)], 50, count)).toBeNull();
    expect(fitValue({ a: { b: [long(100)] } }, 80, count)).toBeNull();
  });

  it('cuts deep inside, and counts what is left out at every depth', () => {
    const value = { a: { list: [1, long(200), long(200)], text: long(200) }, b: 3 };
    const fitted = fitValue(value, 120, count)!;
    expect(fitted.value).toEqual({
      a: { list: [1, '[2 more items left out]'], '[left out]': '1 more property' },
      b: 3,
    });
    expect(fitted.leftOut).toBe(3);
  });

  it.each([
    { '[left out]': 'mine', text: long(100), a: 1 },
    { text: long(100), a: 1, '[left out]': 'mine' },
  ])('keeps a property that is called as the note about the others', (value) => {
    const fitted = fitValue(value, 60, count)!;
    expect(fitted.value).toMatchObject({ '[left out]': 'mine', a: 1 });
    expect(leftOutOf(fitted.value, value)).toBe(1);
  });

  it('keeps keys that could reach a prototype as the own keys that they are', () => {
    const value = JSON.parse(
      `{"__proto__":{"polluted":1},"constructor":2,"text":${JSON.stringify(long(99))}}`,
    );
    const fitted = fitValue(value, 60, count)!;
    expect(Object.keys(fitted.value as object)).toEqual(['__proto__', 'constructor', '[left out]']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(fitted.value)).toBe(Object.prototype);
  });

  it('leaves the value as it was', () => {
    const value = { a: Array.from({ length: 200 }, (_, n) => n), b: long(100) };
    const before = canonicalJson(value);
    fitValue(value, 60, count);
    expect(canonicalJson(value)).toBe(before);
  });

  it('is found soon for values that are huge, wide or deep', () => {
    let deep: JsonValue = long(2_000);
    for (let depth = 0; depth < 150; depth += 1) deep = depth % 2 ? [deep] : { deep };
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`key ${n}`, n]));
    const began = performance.now();
    expect(fitValue(deep, 500, count)).toBeNull();
    expect(fitValue(wide, 500, count)?.leftOut).toBeGreaterThan(19_000);
    expect(fitValue(Array(500_000).fill(0), 500, count)?.leftOut).toBeGreaterThan(490_000);
    expect(fitValue('a'.repeat(10_000_000), 500, count)?.leftOut).toBe(1);
    expect(fitValue('\n'.repeat(10_000_000), 500, count)?.leftOut).toBe(1);
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  it('is a valid cut, with what is left out counted, for any JSON and any budget', () => {
    const parameters = runParameters('a value within a budget', 120);
    fc.assert(
      fc.property(anyJson, fc.integer({ min: 0, max: 400 }), (value, budget) => {
        const fitted = fitValue(value, budget, count);
        expect(fitValue(value, budget, count)).toEqual(fitted);
        if (count(value) <= budget) expect(fitted).toEqual({ value, leftOut: 0 });
        if (!fitted) return;
        expect(leftOutOf(fitted.value, value)).toBe(fitted.leftOut);
        if (typeof value === 'string') expect(count(fitted.value)).toBeLessThanOrEqual(budget);
        if (fitted.leftOut === 0) expect(canonicalJson(fitted.value)).toBe(canonicalJson(value));
      }),
      parameters,
    );
  });
});
