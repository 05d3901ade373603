import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  contextContent,
  contextHash,
  derivedSessionId,
} from '../../../src/checkpoints/content/context-json.js';
import type { JsonObject, JsonValue } from '../../../src/core/json.js';
import { runParameters } from '../../property/seed.js';
import { anyContext, thrownBy } from '../checkpoint-kit.js';

class Thing {
  readonly a = 1;
}
class List extends Array<number> {
  toJSON(): string {
    return 'something else';
  }
}
const cycle: { self?: unknown } = {};
cycle.self = cycle;

describe('the text of a context', () => {
  it('gives exactly the context when it is parsed', () => {
    fc.assert(
      fc.property(anyContext(), (context) => {
        const { content, hash } = contextContent(context);
        const parsed = JSON.parse(content.toString('utf8')) as JsonObject;
        expect(JSON.stringify(parsed)).toBe(JSON.stringify(context));
        expect(hash).toBe(contextHash(parsed));
      }),
      runParameters('context text', 200),
    );
  });

  it('has a digest that does not depend on the order of keys, at any depth', () => {
    fc.assert(
      fc.property(anyContext(), (context) => {
        expect(contextHash(reversed(context))).toBe(contextHash(context));
      }),
      runParameters('context digest', 200),
    );
    expect(contextHash({ a: [1, 2] })).not.toBe(contextHash({ a: [2, 1] }));
    expect(contextHash({ a: '1' })).not.toBe(contextHash({ a: 1 }));
    expect(contextHash({ a: null })).not.toBe(contextHash({}));
  });

  it('leaves out properties that are undefined', () => {
    const { content, hash } = contextContent({ a: undefined, b: { c: undefined } });
    expect(content.toString()).toBe('{"b":{}}');
    expect(hash).toBe(contextHash({ b: {} }));
  });

  it('tells how many bytes each value takes', () => {
    const { sizes } = contextContent({ a: '\u00e9', b: [1, 2], c: undefined });
    expect([...sizes]).toEqual([
      ['a', 4],
      ['b', 5],
    ]);
  });

  it('takes objects without a prototype, and what is nested 512 deep', () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(contextContent(bare).content.toString()).toBe('{"a":1}');
    expect(contextContent(nested(512)).content.toString()).toBe(JSON.stringify(nested(512)));
  });
});

describe('what is no JSON', () => {
  it.each<[string, unknown, string]>([
    ['NaN', { a: [1, Number.NaN] }, '/a/1'],
    ['infinity', { a: Number.NEGATIVE_INFINITY }, '/a'],
    ['a bigint', { a: { b: 1n } }, '/a/b'],
    ['a date', { when: new Date(0) }, '/when'],
    ['a map', { 'a/b~c': new Map() }, '/a~1b~0c'],
    ['a set', { a: new Set() }, '/a'],
    ['bytes', { a: Buffer.from('x') }, '/a'],
    ['an instance of a class', { a: [new Thing()] }, '/a/0'],
    ['a list of a class', { a: List.from([1, 2]) }, '/a'],
    ['a function', { a: () => 1 }, '/a'],
    ['a symbol', { a: Symbol('x') }, '/a'],
    ['an object with a toJSON', { a: { toJSON: () => 1 } }, '/a/toJSON'],
    ['a sparse list', { a: Object.assign([1], { 2: 3 }) }, '/a/1'],
    ['undefined in a list', { a: [undefined] }, '/a/0'],
    ['a boxed text', { a: new String('x') }, '/a'],
    ['a list', [1], ''],
    ['null', null, ''],
    ['a text', 'x', ''],
    ['nothing', undefined, ''],
  ])('is refused with its place: %s', async (_, context, path) => {
    const error = await thrownBy(() => contextContent(context));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', details: { path } });
  });

  it.each<[string, unknown, string]>([
    ['a cycle', cycle, '/self/self'],
    ['what is nested 513 deep', nested(513), '/d/d'],
    ['lists that are nested 100,000 deep', { a: deepList(100_000) }, '/a/0/0'],
  ])('is refused with the beginning of its place: %s', async (_, context, path) => {
    const { code, details } = await thrownBy(() => contextContent(context));
    expect(code).toBe('INVALID_ARGUMENT');
    expect(String(details['path'])).toContain(path);
    expect(String(details['path']).length).toBeLessThanOrEqual(1_000);
  });
});

describe('the derived session id', () => {
  const derived = (workflowId: string | null, context: JsonObject) =>
    derivedSessionId(workflowId, contextHash(context));

  it('differs where the context differs, at any depth, and where the workflow does', () => {
    const contexts: JsonObject[] = [
      {},
      { a: {} },
      { a: { b: 1 } },
      { a: { b: 2 } },
      { a: { b: [1] } },
      { a: { b: '1' } },
    ];
    const ids = contexts.flatMap((context) => [null, 'w', 'v'].map((id) => derived(id, context)));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^session_[0-9a-f]{32}$/);
  });

  it('is the same for equal contexts', () => {
    expect(derived('w', { b: { d: 3, c: 2 }, a: 1 })).toBe(derived('w', { a: 1, b: { c: 2, d: 3 } }));
  });
});

/** The same value, each object with its keys the other way round. */
function reversed<T extends JsonValue>(value: T): T {
  if (Array.isArray(value)) return value.map(reversed) as unknown as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, item]) => [key, reversed(item)])) as T;
}

/** Objects in objects, so many. */
function nested(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 1; level < depth; level += 1) value = { d: value };
  return value;
}

function deepList(depth: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
}
