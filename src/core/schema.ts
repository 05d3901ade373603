/**
 * JSON Schemas with their types, as plain objects. They have the form and the types of TypeBox, but only its types are
 * used here: at run time, TypeBox would load more modules than all the rest.
 */
import type { Type as TypeBox } from 'typebox';

export type { Static, TSchema } from 'typebox';

type Form = { readonly [keyword: string]: unknown };
type Builder = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Partial'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
>;

/** No keyword of JSON Schema marks a single property as optional: the object lists its required ones. */
const OPTIONAL = new WeakSet<object>();

const plain = {
  Array: (items: Form, options?: Form) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Form) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: Form) => ({ enum: values, ...options }),
  Integer: (options?: Form) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Form) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Form) => ({ type: 'null', ...options }),
  Number: (options?: Form) => ({ type: 'number', ...options }),
  Object: (properties: { readonly [key: string]: Form }, options?: Form) => {
    const required = Object.keys(properties).filter((key) => !OPTIONAL.has(properties[key] as object));
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
  },
  Optional: (schema: Form) => {
    const optional = { ...schema };
    OPTIONAL.add(optional);
    return optional;
  },
  Partial: ({ properties }: Form, options?: Form) => ({ type: 'object', properties, ...options }),
  Record: (_keys: Form, value: Form, options?: Form) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: (options?: Form) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Form[], options?: Form) => ({ anyOf, ...options }),
  Unknown: (options?: Form) => ({ ...options }),
};

/** A test compares the result of each function with TypeBox's own. */
export const Type = plain as unknown as Builder;
