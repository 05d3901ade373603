/** Our own check of our own schemas gives the verdict of ajv, whatever the value; and where it refuses, ajv's words. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { plainCheck } from '../../src/core/plain-check.js';
import { type TSchema, Type } from '../../src/core/schema.js';
import { compileSchema, lazySchema } from '../../src/core/schema-check.js';
import { runParameters } from '../property/seed.js';

const KEYS = ['a', 'b', 'type', 'toString'] as const;

/** Values that come near to the schemas below. */
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, 1, -1, 1.5, 3, 1e21, Number.NaN, Number.POSITIVE_INFINITY),
    fc.constantFrom('', 'x', 'ab', '😀', '\ud83d', 'line\nbreak', 'set', 'get'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('any'), { maxKeys: 3 }),
  ),
})).any;

const schema: fc.Arbitrary<TSchema> = fc.letrec<{ any: TSchema }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .record({ minLength: fc.nat(2), maxLength: fc.nat(3) }, { requiredKeys: [] })
      .map((options) => Type.String(options)),
    fc.constantFrom('^[a-z]+$', '^.$').map((pattern) => Type.String({ pattern })),
    fc
      .record({ minimum: fc.integer({ min: -1, max: 2 }), maximum: fc.nat(3) }, { requiredKeys: [] })
      .map((options) => Type.Integer(options)),
    fc.record({ exclusiveMinimum: fc.nat(1) }, { requiredKeys: [] }).map((options) => Type.Number(options)),
    fc.constantFrom<TSchema>(
      Type.Null(),
      Type.Boolean(),
      Type.Unknown(),
      Type.Literal('x'),
      Type.Literal(1),
      Type.Enum(['set', 'get']),
    ),
    fc
      .tuple(tie('any'), fc.record({ minItems: fc.nat(2), maxItems: fc.nat(2) }, { requiredKeys: [] }))
      .map(([items, options]) => Type.Array(items, options)),
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((list) => Type.Union(list)),
    fc
      .tuple(
        fc.dictionary(fc.constantFrom(...KEYS), fc.tuple(tie('any'), fc.boolean()), { maxKeys: 3 }),
        fc.option(fc.oneof(fc.boolean(), tie('any')), { nil: undefined }),
      )
      .map(([fields, additionalProperties]) => {
        const properties = Object.entries(fields).map(([key, [field, optional]]) => [
          key,
          optional ? Type.Optional(field) : field,
        ]);
        return Type.Object(
          Object.fromEntries(properties) as Record<string, TSchema>,
          additionalProperties === undefined ? {} : { additionalProperties },
        );
      }),
  ),
})).any;

describe('plainCheck', () => {
  it('agrees with ajv', () => {
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 4, maxLength: 8 }), (given, values) => {
        const own = lazySchema(given)();
        const ajv = compileSchema(given);
        for (const one of values) {
          expect(own(one)).toBe(ajv(one));
          if (!own(one)) expect(own.violations()).toEqual(ajv.violations());
        }
      }),
      runParameters('own schema check', 1_000),
    );
  });

  it.each<[string, JsonObject]>([
    ['a keyword', { type: 'object', patternProperties: {} }],
    ['a type', { type: 'date' }],
    ['a constant that is an object', { const: { a: 1 } }],
    ['a keyword far inside', { type: 'array', items: { anyOf: [{ uniqueItems: true }] } }],
  ])('refuses %s that it does not know', (_, given) => {
    expect(() => plainCheck(given)).toThrow(TypeError);
  });
});
