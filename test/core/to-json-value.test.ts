import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import type { JsonValue } from '../../src/core/json.js';
import { JSON_DEPTH_MAX } from '../../src/core/limits.js';
import { type JsonChange, toJsonValue } from '../../src/core/to-json-value.js';
import { runParameters } from '../property/seed.js';

interface Row {
  readonly name: string;
  readonly input: () => unknown;
  readonly value: JsonValue;
  readonly changes: readonly JsonChange[];
}

function circular(): object {
  const a: { n: number; self?: object } = { n: 1 };
  a.self = a;
  return a;
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function shared(): object[] {
  const inner = { v: 1 };
  return [inner, inner];
}

function sparse(): unknown[] {
  const list: unknown[] = [1];
  list[2] = 3;
  return list;
}

const ROWS: readonly Row[] = [
  { name: 'no value', input: () => undefined, value: null, changes: [{ kind: 'undefined', path: '' }] },
  { name: 'NaN', input: () => Number.NaN, value: 'NaN', changes: [{ kind: 'non-finite', path: '' }] },
  {
    name: 'minus infinity, in a list',
    input: () => [Number.NEGATIVE_INFINITY],
    value: ['-Infinity'],
    changes: [{ kind: 'non-finite', path: '/0' }],
  },
  {
    name: 'a big integer',
    input: () => 9007199254740993n,
    value: '9007199254740993',
    changes: [{ kind: 'bigint', path: '' }],
  },
  {
    name: 'a date',
    input: () => new Date(0),
    value: '1970-01-01T00:00:00.000Z',
    changes: [{ kind: 'date', path: '' }],
  },
  {
    name: 'an invalid date',
    input: () => new Date(Number.NaN),
    value: null,
    changes: [{ kind: 'date', path: '' }],
  },
  {
    name: 'a map with text keys',
    input: () => new Map([['k', 1]]),
    value: { k: 1 },
    changes: [{ kind: 'collection', path: '' }],
  },
  {
    name: 'a map with other keys',
    input: () => new Map<unknown, unknown>([[1, 'one']]),
    value: [[1, 'one']],
    changes: [{ kind: 'collection', path: '' }],
  },
  {
    name: 'a set',
    input: () => new Set([1, 2]),
    value: [1, 2],
    changes: [{ kind: 'collection', path: '' }],
  },
  {
    name: 'a buffer',
    input: () => Buffer.from('hi'),
    value: { base64: 'aGk=', bytes: 2 },
    changes: [{ kind: 'bytes', path: '' }],
  },
  {
    name: 'a typed array that is a window into a larger buffer',
    input: () => new Uint16Array(new Uint8Array([9, 9, 1, 2, 3, 4]).buffer, 2, 2),
    value: { base64: 'AQIDBA==', bytes: 4 },
    changes: [{ kind: 'bytes', path: '' }],
  },
  {
    name: 'an array buffer',
    input: () => new Uint8Array([255]).buffer,
    value: { base64: '/w==', bytes: 1 },
    changes: [{ kind: 'bytes', path: '' }],
  },
  {
    name: 'an error with a code and a cause',
    input: () => Object.assign(new Error('boom', { cause: new TypeError('why') }), { code: 'E1' }),
    value: { name: 'Error', message: 'boom', code: 'E1', cause: { name: 'TypeError', message: 'why' } },
    changes: [
      { kind: 'error', path: '' },
      { kind: 'error', path: '/cause' },
    ],
  },
  {
    name: 'a cycle',
    input: circular,
    value: { n: 1, self: '[circular]' },
    changes: [{ kind: 'cycle', path: '/self' }],
  },
  { name: 'a shared reference that is no cycle', input: shared, value: [{ v: 1 }, { v: 1 }], changes: [] },
  {
    name: 'functions and symbols',
    input: () => ({ f() {}, [Symbol('s')]: 1, s: Symbol('v'), keep: 1 }),
    value: { keep: 1 },
    changes: [
      { kind: 'function-or-symbol', path: '/f' },
      { kind: 'function-or-symbol', path: '/s' },
    ],
  },
  {
    name: 'a function as the whole value',
    input: () => () => 1,
    value: '[function]',
    changes: [{ kind: 'function-or-symbol', path: '' }],
  },
  {
    name: 'a getter that throws',
    input: () => ({
      get x() {
        throw new Error('no');
      },
      keep: 1,
    }),
    value: { keep: 1 },
    changes: [{ kind: 'throws', path: '/x' }],
  },
  {
    name: 'a toJSON that throws',
    input: () => ({
      toJSON() {
        throw new Error('no');
      },
    }),
    value: '[unreadable: no]',
    changes: [{ kind: 'throws', path: '' }],
  },
  {
    name: 'a toJSON that answers',
    input: () => ({ toJSON: () => ({ n: 1n }) }),
    value: { n: '1' },
    changes: [{ kind: 'bigint', path: '/n' }],
  },
  {
    name: 'a list with a hole',
    input: sparse,
    value: [1, null, 3],
    changes: [{ kind: 'undefined', path: '/1' }],
  },
  { name: 'minus zero', input: () => -0, value: 0, changes: [] },
  {
    name: 'an object without a prototype',
    input: () => Object.assign(Object.create(null), { a: 1 }),
    value: { a: 1 },
    changes: [],
  },
  {
    name: 'a property without a value',
    input: () => ({ a: undefined, b: 1 }),
    value: { b: 1 },
    changes: [{ kind: 'undefined', path: '/a' }],
  },
  {
    name: 'half of a surrogate pair in a text',
    input: () => ({ a: 'x\ud83d' }),
    value: { a: 'x\ufffd' },
    changes: [{ kind: 'surrogate', path: '/a' }],
  },
  {
    name: 'half of a surrogate pair in a key',
    input: () => ({ 'k\ude00': 1 }),
    value: { 'k\ufffd': 1 },
    changes: [{ kind: 'surrogate', path: '' }],
  },
  {
    name: 'a key with the signs of a JSON Pointer',
    input: () => ({ 'a/b~c': 1n }),
    value: { 'a/b~c': '1' },
    changes: [{ kind: 'bigint', path: '/a~1b~0c' }],
  },
];

describe('toJsonValue', () => {
  it.each(ROWS)('converts $name and reports what it changed', ({ input, value, changes }) => {
    const conversion = toJsonValue(input());
    expect(conversion.value).toStrictEqual(value);
    expect(conversion.changes).toStrictEqual(changes);
  });

  it.each(ROWS)('gives JSON in normal form for $name', ({ input }) => {
    const { value } = toJsonValue(input());
    expect(JSON.parse(JSON.stringify(value))).toStrictEqual(value);
  });

  it('gives a marker for a revoked proxy', () => {
    const { value, changes } = toJsonValue({ gone: revokedProxy(), keep: 1 });
    expect(value).toMatchObject({ keep: 1, gone: expect.stringMatching(/^\[unreadable: /) });
    expect(changes).toStrictEqual([{ kind: 'throws', path: '/gone' }]);
  });

  it.each([
    ['a revoked proxy', revokedProxy],
    ['an object without a prototype', () => Object.create(null) as object],
    ['an error whose message is no text', () => Object.assign(new Error('x'), { message: Symbol('m') })],
    [
      'an error whose message cannot be read',
      () =>
        Object.defineProperty(new Error('x'), 'message', {
          get() {
            throw new Error('no');
          },
        }),
    ],
  ])('does not throw when a toJSON throws %s', (_, thrown) => {
    const input = {
      toJSON() {
        throw thrown();
      },
    };
    expect(toJsonValue(input).value).toMatch(/^\[unreadable: /);
  });

  it('keeps a __proto__ key as an ordinary one, from objects and from maps, and changes no prototype', () => {
    const poison = JSON.parse('{"__proto__":{"polluted":true},"a":1}') as object;
    for (const input of [poison, new Map(Object.entries(poison))]) {
      const { value } = toJsonValue(input);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(Object.keys(value as object).sort()).toStrictEqual(['__proto__', 'a']);
      expect((value as { polluted?: unknown }).polluted).toBeUndefined();
    }
  });

  it('cuts what is nested 100,000 deep at the limit, without a stack overflow', () => {
    let input: unknown = 'core';
    for (let depth = 0; depth < 100_000; depth += 1) input = depth % 2 ? { in: input } : [input];
    const { value, changes } = toJsonValue(input);
    expect(changes).toStrictEqual([{ kind: 'depth', path: expect.any(String) }]);
    let depth = 0;
    let at: JsonValue | undefined = value;
    for (; typeof at === 'object' && at !== null; depth += 1) at = Object.values(at)[0];
    expect(at).toBe('[nested too deep]');
    expect(depth).toBe(JSON_DEPTH_MAX);
  });

  it('cuts a toJSON that answers with a new object again and again', () => {
    const endless = (): object => ({ toJSON: endless });
    expect(toJsonValue(endless()).value).toBe('[nested too deep]');
  });

  it('reports 100 changes and the first of each kind, and converts the rest all the same', () => {
    const { value, changes } = toJsonValue([
      ...Array.from({ length: 500 }, () => 1n),
      new Date(0),
      new Date(0),
    ]);
    expect(changes.filter(({ kind }) => kind === 'bigint')).toHaveLength(100);
    expect(changes.slice(100)).toStrictEqual([{ kind: 'date', path: '/500' }]);
    expect(value).toStrictEqual([
      ...Array.from({ length: 500 }, () => '1'),
      ...Array.from({ length: 2 }, () => '1970-01-01T00:00:00.000Z'),
    ]);
  });

  it('does not change what it is given', () => {
    const input = { list: [1, { date: new Date(0) }], map: new Map([['a', new Set([1])]]) };
    const before = structuredClone(input);
    toJsonValue(input);
    expect(input).toStrictEqual(before);
  });

  it('gives the same text for the same value each time, and a fixed point', () => {
    const parameters = runParameters('to-json-value', 500);
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
      stringUnit: 'binary',
    });
    fc.assert(
      fc.property(anything, (input) => {
        const { value } = toJsonValue(input);
        const text = JSON.stringify(value);
        expect(JSON.stringify(toJsonValue(input).value)).toBe(text);
        expect(toJsonValue(value)).toStrictEqual({ value, changes: [] });
        expect(canonicalJson(JSON.parse(text) as JsonValue)).toBe(canonicalJson(value));
        expect(text.isWellFormed()).toBe(true);
      }),
      parameters,
    );
  });
});
