/** The schemas are those that TypeBox makes, word for word: what is checked and what the OpenAPI document says stay the same. */
import { Type as TypeBox } from 'typebox';
import { describe, expect, it } from 'vitest';
import { Type } from '../../src/core/schema.js';

type Build = (type: typeof TypeBox) => object;

const strict = { additionalProperties: false } as const;

const CASES: readonly [name: string, build: Build][] = [
  ['String', (type) => type.String()],
  ['String with options', (type) => type.String({ minLength: 1, description: 'A name.' })],
  ['Number', (type) => type.Number({ exclusiveMinimum: 0 })],
  ['Integer', (type) => type.Integer({ minimum: 1, maximum: 9 })],
  ['Boolean', (type) => type.Boolean({ description: 'Whether.' })],
  ['Null', (type) => type.Null()],
  ['Unknown', (type) => type.Unknown({ description: 'Any.' })],
  ['Enum', (type) => type.Enum(['a', 'b'])],
  ['Literals', (type) => type.Union([type.Literal('a'), type.Literal(1), type.Literal(true)])],
  ['Array', (type) => type.Array(type.Integer(), { minItems: 2, maxItems: 2 })],
  ['Record', (type) => type.Record(type.String(), type.Object({ a: type.Number() }))],
  ['Object without properties', (type) => type.Object({})],
  ['Object of others', (type) => type.Object({}, { additionalProperties: type.String() })],
  [
    'Object',
    (type) =>
      type.Object(
        {
          a: type.Optional(type.String()),
          b: type.Object({ c: type.Optional(type.Null()) }),
          d: type.Null(),
        },
        strict,
      ),
  ],
  ['Object with its own list', (type) => type.Object({ a: type.Unknown() }, { ...strict, required: ['a'] })],
  ['Object, all optional', (type) => type.Object({ a: type.Optional(type.Boolean()) })],
  ['Partial', (type) => type.Partial(type.Object({ a: type.Object({ b: type.Null() }, strict) }, strict))],
  [
    'Union with options',
    (type) =>
      type.Optional(type.Union([type.String(), type.Null()], { discriminator: { propertyName: 'type' } })),
  ],
];

describe('Type', () => {
  it.each(CASES)('%s', (_, build) => {
    expect(JSON.stringify(build(Type as typeof TypeBox))).toBe(JSON.stringify(build(TypeBox)));
  });

  it('lets one schema be optional in one place and required in another', () => {
    const text = Type.String();
    const schema = Type.Object({ a: Type.Optional(text), b: text });
    expect(schema).toMatchObject({ required: ['b'] });
  });
});
