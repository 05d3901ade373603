/** Values that are deep, large, or larger than they look. Bounds on time are ten times what is usual. */
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { JSON_DEPTH_MAX, RECORD_BYTES_MAX } from '../../src/core/limits.js';
import { toJsonValue } from '../../src/core/to-json-value.js';

const DEEP = 100_000;

function nested(wrap: (inner: unknown, depth: number) => unknown): unknown {
  let value: unknown = 'core';
  for (let depth = 0; depth < DEEP; depth += 1) value = wrap(value, depth);
  return value;
}

function depthOf(value: JsonValue): number {
  let depth = 0;
  for (let at: JsonValue | undefined = value; typeof at === 'object' && at !== null; depth += 1) {
    at = Object.values(at).at(-1);
  }
  return depth;
}

describe('toJsonValue, of a deep value,', () => {
  it.each<[string, (inner: unknown, depth: number) => unknown]>([
    ['lists', (inner) => [inner]],
    ['objects', (inner) => ({ inner })],
    ['lists and objects by turns', (inner, depth) => (depth % 2 ? [inner] : { inner })],
    ['errors by their causes', (cause) => new Error('why', { cause })],
    ['errors by their lists', (inner) => new AggregateError([inner], 'all')],
    ['maps', (inner) => new Map([['k', inner]])],
    ['sets', (inner) => new Set([inner])],
    ['toJSON answers', (inner) => ({ toJSON: () => ({ inner }) })],
  ])('cuts %s 100,000 deep with one marker, and the rest can be written', (_, wrap) => {
    const { value, changes } = toJsonValue(nested(wrap));
    expect(changes.filter(({ kind }) => kind === 'depth')).toHaveLength(1);
    expect(JSON.stringify(value).split('[nested too deep]')).toHaveLength(2);
    expect(depthOf(value)).toBeLessThanOrEqual(JSON_DEPTH_MAX);
  });
});

describe('toJsonValue, of a large value,', () => {
  it('keeps three million nodes', () => {
    const input = Array.from({ length: 3_000_000 }, (_, n) => ({ n }));
    const { value, changes } = toJsonValue(input);
    expect(changes).toStrictEqual([]);
    expect((value as JsonObject[]).length).toBe(3_000_000);
    expect((value as JsonObject[])[2_999_999]).toStrictEqual({ n: 2_999_999 });
  }, 60_000);

  it('writes out a shared reference each time without a mark', () => {
    const shared = { v: [1] };
    const { value, changes } = toJsonValue({ a: shared, b: [shared, new Map([['c', shared]])] });
    expect(value).toStrictEqual({ a: { v: [1] }, b: [{ v: [1] }, { c: { v: [1] } }] });
    expect(changes.map(({ kind }) => kind)).toStrictEqual(['collection']);
  });

  it.each<[string, () => unknown]>([
    ['lists that double forty times', () => doubled('leaf')],
    ['a large text that is shared a thousand times', () => Array(1_000).fill('x'.repeat(1_000_000))],
    ['a list with four thousand million holes', () => Object.assign([], { 4294967294: 1 })],
  ])(
    'cuts %s at a bound',
    (_, input) => {
      const { value, changes } = toJsonValue({ first: 1, input: input() });
      expect(value).toMatchObject({ first: 1 });
      expect(changes.map(({ kind }) => kind)).toContain('size');
      const { length } = JSON.stringify(value);
      expect(length).toBeLessThan(4 * RECORD_BYTES_MAX);
    },
    60_000,
  );

  it('keeps one text that no record holds, so that storage refuses it and says so', () => {
    const text = 'x'.repeat(RECORD_BYTES_MAX + 1);
    const { value, changes } = toJsonValue([text, 'short', { n: 1 }]);
    expect((value as string[])[0] === text).toBe(true);
    expect((value as unknown[]).slice(1)).toStrictEqual(['short', { n: 1 }]);
    expect(changes).toStrictEqual([]);
  });

  it('numbers 20,000 keys that become equal in a time that grows with their count alone', () => {
    const input: { [key: string]: number } = {};
    for (let n = 0; n < 20_000; n += 1) {
      input[`${String.fromCharCode(0xd800 + (n % 1024))}k${String.fromCharCode(0xd800 + n / 1024)}`] = n;
    }
    const startMs = performance.now();
    const { value } = toJsonValue(input);
    expect(Object.values(value as JsonObject)).toStrictEqual(Object.values(input));
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });
});

function doubled(leaf: unknown): unknown {
  let value = leaf;
  for (let level = 0; level < 40; level += 1) value = [value, value];
  return value;
}
