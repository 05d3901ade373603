import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import { type JsonObject, type JsonValue, setOwn } from '../../src/core/json.js';
import { applyPatch, changesBetween, type JsonPatchStep, patchBetween } from '../../src/core/json-patch.js';
import { runParameters } from '../property/seed.js';

const key = fc.constantFrom(
  '',
  '/',
  '~',
  '~1',
  '0',
  '-',
  'a',
  '__proto__',
  'constructor',
  'prototype',
  'length',
);
const { value: anyJson } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.constantFrom(null, true, false, 0, -0, 1, '', 'a', 'toJSON'), fc.double({ noNaN: true })),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map(objectOf),
  ),
}));

function objectOf(pairs: readonly (readonly [string, JsonValue])[]): JsonValue {
  const object: JsonObject = {};
  for (const [name, value] of pairs) setOwn(object, name, value);
  return object;
}

/** Both sides of an edit: mostly alike, so that there is something to patch. */
const pair = fc.oneof(
  fc.tuple(anyJson, anyJson),
  fc
    .tuple(fc.array(anyJson, { minLength: 8, maxLength: 12 }), fc.nat(7), anyJson)
    .map(([list, at, value]) => {
      const edited: JsonValue = list.with(at, value);
      return [list as JsonValue, edited] as const;
    }),
);

const ORIGINAL = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));
afterEach(() => {
  expect(JSON.stringify(Object.getOwnPropertyNames(Object.prototype))).toBe(ORIGINAL);
  expect(Object.keys(Array.prototype)).toEqual([]);
});

const hostile = (text: string) => JSON.parse(text) as JsonValue;
const wide = { many: 'x'.repeat(100) };

describe('the patch between two values', () => {
  it('has the steps from one to the other', () => {
    const [from, to] = [
      { ...wide, a: [1, 2, 3] },
      { ...wide, a: [1, 2, 4] },
    ];
    expect(patchBetween(from, to)).toEqual([{ op: 'replace', path: '/a/2', value: 4 }]);
    expect(patchBetween(from, structuredClone(from))).toEqual([]);
  });

  it('escapes what a pointer gives a meaning', () => {
    const [from, to] = [
      { ...wide, 'a/b': { '~': 1, '': 2 } },
      { ...wide, 'a/b': { '~': 3, '': 4 } },
    ];
    const steps = patchBetween(from, to)!;
    expect(steps.map(({ path }) => path).sort()).toEqual(['/a~1b/', '/a~1b/~0']);
    expect(applyPatch(from, steps)).toEqual(to);
  });

  it('is none where the new value is shorter than its steps', () => {
    expect(patchBetween({ a: 1, b: 2, c: 3 }, {})).toBeNull();
  });

  it.each<[JsonValue, JsonValue]>([
    [1, 2],
    ['abc', 'abd'],
    [null, {}],
    [{}, null],
    [{}, []],
    [[], {}],
    [[1, 2], { 0: 1, 1: 2 }],
    ['', {}],
  ])('is none from %j to %j, which have no parts in common', (from, to) => {
    expect(patchBetween(from, to)).toBeNull();
  });

  it.each([
    ['{}', '{"__proto__":{"polluted":1}}'],
    ['{"__proto__":{"a":1}}', '{"__proto__":{"a":1,"polluted":1}}'],
    ['{"constructor":{"prototype":{"a":1}}}', '{"constructor":{"prototype":{"polluted":1}}}'],
    ['[{"__proto__":[]}]', '[{"__proto__":[1]}]'],
  ])('from %s to %s reaches no prototype', (from, to) => {
    const [before, after] = [hostile(from), hostile(to)];
    const steps = patchBetween(before, after);
    if (steps) expect(canonicalJson(applyPatch(before, steps))).toBe(canonicalJson(after));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('is none, and nothing worse, for values nested 10,000 deep', () => {
    const deep = (innermost: JsonValue) => {
      let value = innermost;
      for (let depth = 0; depth < 10_000; depth += 1) value = [value];
      return value;
    };
    expect(patchBetween(deep(1), deep(2))).toBeNull();
  });

  it('leads exactly there or is none, and leaves both values as they were, for any JSON', () => {
    const parameters = runParameters('the patch between two values', 500);
    fc.assert(
      fc.property(pair, ([from, to]) => {
        const [before, after] = [canonicalJson(from), canonicalJson(to)];
        const steps = patchBetween(from, to);
        if (steps) expect(canonicalJson(applyPatch(from, steps))).toBe(after);
        expect([canonicalJson(from), canonicalJson(to)]).toEqual([before, after]);
      }),
      parameters,
    );
  });
});

describe('the changes between two values', () => {
  it('are shown also where they are longer than the value', () => {
    expect(changesBetween({ a: 1, b: 2 }, {})).toHaveLength(2);
    expect(changesBetween([1], { 0: 1 })).toEqual([{ op: 'replace', path: '', value: { 0: 1 } }]);
    expect(changesBetween('a', 'b')).toEqual([{ op: 'replace', path: '', value: 'b' }]);
  });

  it('lead there, and are none just where both are equal, for any JSON', () => {
    const parameters = runParameters('the changes between two values', 500);
    fc.assert(
      fc.property(pair, ([from, to]) => {
        const steps = changesBetween(from, to);
        expect(steps.length === 0).toBe(canonicalJson(from) === canonicalJson(to));
        const isBanned = steps.some(({ path }) => /\/__proto__|\/prototype/.test(path));
        if (!isBanned) expect(canonicalJson(applyPatch(from, steps))).toBe(canonicalJson(to));
      }),
      parameters,
    );
  });
});

describe('applying a patch', () => {
  it('gives a new value that shares nothing with the old one or with the steps', () => {
    const from = { list: [1], kept: { a: 1 } };
    const steps: JsonPatchStep[] = [{ op: 'add', path: '/list/-', value: { b: 1 } }];
    const to = applyPatch(from, steps, [{ op: 'replace', path: '/list/1/b', value: 2 }]);
    expect(to).toEqual({ list: [1, { b: 2 }], kept: { a: 1 } });
    expect([from, steps]).toEqual([
      { list: [1], kept: { a: 1 } },
      [{ op: 'add', path: '/list/-', value: { b: 1 } }],
    ]);
    (to as typeof from).kept.a = 9;
    expect(from.kept.a).toBe(1);
  });

  it.each<JsonPatchStep>([
    { op: 'add', path: '/__proto__/polluted', value: 1 },
    { op: 'add', path: '/__proto__', value: { polluted: 1 } },
    { op: 'add', path: '/constructor/prototype/polluted', value: 1 },
    { op: 'replace', path: '/a/__proto__/polluted', value: 1 },
    { op: 'add', path: '/a/0/constructor/prototype/polluted', value: 1 },
    { op: 'remove', path: '/constructor/prototype/toString' },
    { op: 'remove', path: '/a/length' },
    { op: 'replace', path: '/gone', value: 1 },
    { op: 'remove', path: '/gone' },
    { op: 'add', path: '/a/7', value: 1 },
    { op: 'add', path: 'a', value: 1 },
  ])('throws for $op at $path', (step) => {
    expect(() => applyPatch({ a: [{}] }, [step])).toThrow();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('takes a value with such keys as the data that it is', () => {
    const value = hostile('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    const to = applyPatch({}, [{ op: 'add', path: '/a', value }]) as JsonObject;
    expect(canonicalJson(to['a']!)).toBe(canonicalJson(value));
    expect((to['a'] as JsonObject)['polluted']).toBeUndefined();
  });
});
