/** What a tool may hand over although it should not: things that throw, lie, mutate, never end, or only look like something. */
import fs from 'node:fs';
import vm from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/core/json.js';
import { type JsonChangeKind, toJsonValue } from '../../src/core/to-json-value.js';

type Row = readonly [name: string, input: () => unknown, value: JsonValue, kinds: readonly JsonChangeKind[]];

const fail = (): never => failWith('trap');

function failWith(reason: string): never {
  throw new TypeError(reason);
}

function through(holder: (inner: unknown) => object): () => unknown {
  return () => {
    const list: unknown[] = [];
    const whole = holder(list);
    list.push(whole);
    return whole;
  };
}

const CYCLES: readonly Row[] = [
  ['a list', through((inner) => [inner]), [['[circular]']], ['cycle']],
  [
    'the value of a map',
    through((inner) => new Map([['k', inner]])),
    { k: ['[circular]'] },
    ['collection', 'cycle'],
  ],
  [
    'the key of a map',
    through((inner) => new Map([[inner, 1]])),
    [[['[circular]'], 1]],
    ['collection', 'cycle'],
  ],
  ['a set', through((inner) => new Set([inner])), [['[circular]']], ['collection', 'cycle']],
  [
    'the cause of an error',
    () => {
      const error = new Error('e');
      error.cause = error;
      return error;
    },
    { name: 'Error', message: 'e', cause: '[circular]' },
    ['error', 'cycle'],
  ],
  ['a toJSON', through((inner) => ({ toJSON: () => ({ inner }) })), { inner: ['[circular]'] }, ['cycle']],
];

const OBJECTS: readonly Row[] = [
  ['a boxed number', () => Object(1), 1, []],
  ['a boxed text', () => Object('ab'), 'ab', []],
  ['a boxed truth value', () => Object(false), false, []],
  ['a boxed big integer', () => Object(2n ** 64n), '18446744073709551616', ['bigint']],
  ['a boxed symbol', () => Object(Symbol('s')), '[symbol]', ['function-or-symbol']],
  ['a nested big integer', () => ({ a: [1n] }), { a: ['1'] }, ['bigint']],
  [
    'a data view',
    () => new DataView(new Uint8Array([0, 255]).buffer, 1),
    { base64: '/w==', bytes: 1 },
    ['bytes'],
  ],
  ['shared memory', () => new SharedArrayBuffer(1), { base64: 'AA==', bytes: 1 }, ['bytes']],
  ['no bytes', () => new Uint8Array(0), { base64: '', bytes: 0 }, ['bytes']],
  ['a promise', () => Promise.resolve(1), '[object Promise]', ['opaque']],
  ['a weak map', () => new WeakMap(), '[object WeakMap]', ['opaque']],
  ['a weak reference', () => new WeakRef({}), '[object WeakRef]', ['opaque']],
  ['a pattern', () => /a+/g, '/a+/g', ['opaque']],
  ['a query string', () => new URLSearchParams('a=1'), 'a=1', ['opaque']],
  ['an address', () => new URL('https://example.com/a'), 'https://example.com/a', []],
  [
    'an instance of a class',
    () =>
      new (class A {
        a = 1;
        #b = 2;
        get b() {
          return this.#b;
        }
      })(),
    { a: 1 },
    [],
  ],
  ['an instance without fields', () => new (class A {})(), {}, []],
  ['a map of another realm', () => vm.runInNewContext('new Map([["k", 1]])'), { k: 1 }, ['collection']],
  ['a set of another realm', () => vm.runInNewContext('new Set([1])'), [1], ['collection']],
  ['a date of another realm', () => vm.runInNewContext('new Date(0)'), '1970-01-01T00:00:00.000Z', ['date']],
  [
    'an error of another realm',
    () => vm.runInNewContext('new TypeError("t")'),
    { name: 'TypeError', message: 't' },
    ['error'],
  ],
  ['an object of another realm', () => vm.runInNewContext('({ a: {} })'), { a: {} }, []],
  ['a toJSON that is no function', () => ({ toJSON: 'text' }), { toJSON: 'text' }, []],
  ['a toJSON that answers nothing', () => [{ toJSON: () => undefined }], [null], ['undefined']],
  [
    'a toJSON that answers its own object',
    () => ({
      a: 1,
      toJSON() {
        return this;
      },
    }),
    { a: 1 },
    ['function-or-symbol'],
  ],
  [
    'the keys of Object.prototype',
    () => ({ constructor: 1, hasOwnProperty: 2, toString: 3, valueOf: 4 }),
    { constructor: 1, hasOwnProperty: 2, toString: 3, valueOf: 4 },
    [],
  ],
  [
    'a map with a symbol as its key',
    () => new Map([[Symbol('s'), 1]]),
    [[null, 1]],
    ['collection', 'function-or-symbol'],
  ],
  ['a map without entries', () => new Map(), {}, ['collection']],
];

const ERRORS: readonly Row[] = [
  [
    'errors of several promises',
    () => new AggregateError([new Error('one'), 'two'], 'all'),
    { name: 'AggregateError', message: 'all', errors: [{ name: 'Error', message: 'one' }, 'two'] },
    ['error', 'error'],
  ],
  [
    'a class of errors with fields of its own',
    () =>
      new (class HttpError extends Error {
        override name = 'HttpError';
        status = 503;
      })('down'),
    { name: 'HttpError', message: 'down', status: 503 },
    ['error'],
  ],
  [
    'an error with a message that throws',
    () => Object.defineProperty(Object.assign(new Error('x'), { code: 'E' }), 'message', { get: fail }),
    { name: 'Error', message: '', code: 'E' },
    ['error', 'throws'],
  ],
  [
    'an error with a cause that throws',
    () => Object.defineProperty(new Error('x'), 'cause', { get: fail, enumerable: true }),
    { name: 'Error', message: 'x' },
    ['error', 'throws'],
  ],
  [
    'a message with half of a surrogate pair',
    () => new Error('\ud83d'),
    { name: 'Error', message: '\ufffd' },
    ['error', 'surrogate'],
  ],
];

const PROXIES: readonly Row[] = [
  ['ownKeys', () => new Proxy({}, { ownKeys: fail }), '[unreadable: trap]', ['throws']],
  ['get', () => new Proxy({ a: 1 }, { get: fail }), '[unreadable: trap]', ['throws']],
  ['getPrototypeOf', () => new Proxy({ a: 1 }, { getPrototypeOf: fail }), { a: 1 }, []],
  [
    'getOwnPropertyDescriptor',
    () => new Proxy({ a: 1 }, { getOwnPropertyDescriptor: fail }),
    '[unreadable: trap]',
    ['throws'],
  ],
];

const CASE = JSON.parse(
  fs.readFileSync(new URL('../../fixtures/cases/040-non-json-values.json', import.meta.url), 'utf8'),
) as { readonly values: readonly { readonly name: string; readonly js: string }[] };

describe('toJsonValue, of a hostile value,', () => {
  it.each(CASE.values)('gives the same normal form twice for $name of the shared case', ({ js }) => {
    const texts = [1, 2].map(() => JSON.stringify(toJsonValue(vm.runInThisContext(`(${js})`)).value));
    expect(texts[0]).toBe(texts[1]);
    expect(toJsonValue(JSON.parse(texts[0]!)).changes).toStrictEqual([]);
  });

  it.each(CYCLES)('cuts a cycle through %s, and only there', (_, input, value, kinds) => {
    const conversion = toJsonValue(input());
    expect(conversion.value).toStrictEqual(value);
    expect(conversion.changes.map(({ kind }) => kind)).toStrictEqual(kinds);
  });

  it.each([...OBJECTS, ...ERRORS])('converts %s and reports it', (_, input, value, kinds) => {
    const conversion = toJsonValue(input());
    expect(conversion.value).toStrictEqual(value);
    expect(conversion.changes.map(({ kind }) => kind)).toStrictEqual(kinds);
  });

  it.each(PROXIES)('survives a proxy whose %s trap throws', (_, input, value, kinds) => {
    const conversion = toJsonValue(input());
    expect(conversion.value).toStrictEqual(value);
    expect(conversion.changes.map(({ kind }) => kind)).toStrictEqual(kinds);
  });

  it.each([...CYCLES, ...OBJECTS, ...ERRORS, ...PROXIES])('gives JSON in normal form for %s', (_, input) => {
    const { value } = toJsonValue(input());
    expect(JSON.parse(JSON.stringify(value))).toStrictEqual(value);
  });

  it('does not take a step of an iterator', () => {
    const iterator = [1, 2][Symbol.iterator]();
    expect(toJsonValue({ iterator }).value).toStrictEqual({ iterator: '[object Array Iterator]' });
    expect(iterator.next().value).toBe(1);
  });

  it('does not run the methods that a subclass of Map put in their place', () => {
    class Endless extends Map<string, number> {
      override *[Symbol.iterator](): MapIterator<[string, number]> {
        for (;;) yield ['again', 1];
      }
    }
    expect(toJsonValue(new Endless([['k', 1]])).value).toStrictEqual({ k: 1 });
  });

  it('stops when what pretends to be a set never ends', () => {
    const pretender = Object.create(Set.prototype, {
      [Symbol.iterator]: {
        *value() {
          for (;;) yield 'again';
        },
      },
    }) as unknown;
    const { value, changes } = toJsonValue({ pretender, keep: 1 });
    expect((value as { keep?: unknown }).keep).toBe(1);
    expect(changes.map(({ kind }) => kind)).toContain('size');
  }, 30_000);

  it('keeps the values of two keys that are equal once their surrogates are replaced, and tells', () => {
    for (const holder of [(all: object) => all, (all: object) => new Map(Object.entries(all))]) {
      const { value, changes } = toJsonValue(holder({ 'k\ud800': 1, 'k\udc00': 2, 'k\ufffd': 3 }));
      expect(value).toStrictEqual({ 'k\ufffd_2': 1, 'k\ufffd_3': 2, 'k\ufffd': 3 });
      expect(changes.filter(({ kind }) => kind === 'key').map(({ path }) => path)).toStrictEqual([
        '/k\ufffd_2',
        '/k\ufffd_3',
      ]);
    }
  });

  it('cuts the reason of what cannot be read without cutting a character in half', () => {
    const reason = `${'x'.repeat(199)}\u{1f600}`;
    const { value } = toJsonValue(new Proxy({}, { ownKeys: () => failWith(reason) }));
    expect((value as string).isWellFormed()).toBe(true);
  });

  it('lets a toJSON change its own object, and asks it once', () => {
    let asked = 0;
    const input = {
      list: [1],
      toJSON(): unknown {
        asked += 1;
        this.list.push(2);
        return { list: this.list };
      },
    };
    expect(toJsonValue(input).value).toStrictEqual({ list: [1, 2] });
    expect(asked).toBe(1);
  });
});
