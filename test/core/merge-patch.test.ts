import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/json.js';
import { mergePatch } from '../../src/core/merge-patch.js';
import { runParameters } from '../property/seed.js';

afterEach(() => {
  expect(({} as { x?: number }).x).toBeUndefined();
});

const json = (text: string) => JSON.parse(text) as JsonValue;

/** RFC 7396, appendix A: the original, the patch, the result. */
const EXAMPLES = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
] as const;

describe('a merge patch', () => {
  it.each(EXAMPLES)('of %s by %s is %s (RFC 7396, appendix A)', (target, patch, result) => {
    expect(JSON.stringify(mergePatch(json(target), json(patch)))).toBe(result);
  });

  it('of nothing is the patch without what it removes', () => {
    expect(mergePatch(undefined, json('{"a":null,"b":{"c":null,"d":[null]}}'))).toEqual({ b: { d: [null] } });
    expect(mergePatch(undefined, 5)).toBe(5);
  });

  it('takes __proto__ for a key like others', () => {
    const patch = json('{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}');
    const merged = mergePatch(json('{"a":1}'), patch);
    expect(JSON.stringify(merged)).toBe(`{"a":1,${JSON.stringify(patch).slice(1)}`);
    const again = mergePatch(merged, json('{"__proto__":{"y":2},"a":null}'));
    expect(JSON.stringify(again)).toContain('"__proto__":{"x":1,"y":2}');
    expect(JSON.stringify(mergePatch(again, json('{"__proto__":null,"constructor":null}')))).toBe('{}');
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });

  it('does not find inherited keys in the target', () => {
    expect(mergePatch({}, { toString: { a: 1 } })).toEqual({ toString: { a: 1 } });
    expect(JSON.stringify(mergePatch({}, { hasOwnProperty: null }))).toBe('{}');
  });
});

const key = fc.constantFrom('a', 'b', '', '__proto__', 'constructor');
const { value: anyJson } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonValue>(null, 0, 'x', true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)),
  ),
}));

/** As the pseudo code of the RFC says, over maps: they have no prototype that could get in the way. */
function reference(target: unknown, patch: JsonValue): unknown {
  if (!isJsonObject(patch)) return mapOf(patch);
  const result = new Map(target instanceof Map ? (target as Map<string, unknown>) : []);
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) result.delete(name);
    else result.set(name, reference(result.get(name), change));
  }
  return result;
}

function mapOf(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(mapOf);
  if (!isJsonObject(value)) return value;
  return new Map(Object.entries(value as JsonObject).map(([name, member]) => [name, mapOf(member)]));
}

describe('any merge patch', () => {
  it('does what the RFC says, and changes neither argument', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (target, patch) => {
        const before = JSON.stringify([target, patch]);
        expect(mapOf(mergePatch(target, patch))).toEqual(reference(mapOf(target), patch));
        expect(JSON.stringify([target, patch])).toBe(before);
      }),
      runParameters('merge-patch', 300),
    );
  });
});
