/**
 * Checks a value against one of our own schemas without ajv. It supports only the keywords that they use, and agrees
 * with ajv. A restore reads rows long before one is invalid, so ajv is loaded only to describe a violation.
 */
import type { JsonValue } from './json.js';

export type Verdict = (value: unknown) => boolean;

type Schema = { readonly [keyword: string]: JsonValue };
type Keyword = (argument: never, schema: Schema) => Verdict;

const ANNOTATIONS: ReadonlySet<string> = new Set(['description', 'title', 'default', 'examples']);

const TYPES: { readonly [type: string]: Verdict } = {
  array: (value) => Array.isArray(value),
  boolean: (value) => typeof value === 'boolean',
  // As in ajv: a number in JSON is never infinite.
  integer: (value) => typeof value === 'number' && !(value % 1) && !Number.isNaN(value),
  null: (value) => value === null,
  number: (value) => typeof value === 'number',
  object: isObject,
  string: (value) => typeof value === 'string',
};

const KEYWORDS: { readonly [keyword: string]: Keyword } = {
  type: (type: string) => TYPES[type] ?? refuse(`the type ${type}`),
  const: (wanted: JsonValue) => isOneOf([wanted]),
  enum: (values: readonly JsonValue[]) => isOneOf(values),
  minimum: (least: number) => ofNumber((value) => value >= least),
  maximum: (most: number) => ofNumber((value) => value <= most),
  exclusiveMinimum: (least: number) => ofNumber((value) => value > least),
  minLength: (least: number) => ofText((text) => lengthOf(text) >= least),
  maxLength: (most: number) => ofText((text) => lengthOf(text) <= most),
  pattern: (pattern: string) => {
    const expression = new RegExp(pattern, 'u');
    return ofText((text) => expression.test(text));
  },
  items: (schema: Schema) => {
    const fits = plainCheck(schema);
    return ofList((list) => list.every(fits));
  },
  minItems: (least: number) => ofList((list) => list.length >= least),
  maxItems: (most: number) => ofList((list) => list.length <= most),
  required: (keys: readonly string[]) => ofObject((value) => keys.every((key) => value[key] !== undefined)),
  properties: (schemas: { readonly [key: string]: Schema }) => {
    const checks = Object.entries(schemas).map(([key, schema]) => [key, plainCheck(schema)] as const);
    return ofObject((value) => checks.every(([key, fits]) => value[key] === undefined || fits(value[key])));
  },
  additionalProperties: (rule: Schema | boolean, { properties }) => {
    const known = new Set(Object.keys((properties ?? {}) as object));
    const fits: Verdict = typeof rule === 'boolean' ? () => rule : plainCheck(rule);
    return ofObject((value) => Object.keys(value).every((key) => known.has(key) || fits(value[key])));
  },
  anyOf: (schemas: readonly Schema[]) => {
    const checks = schemas.map(plainCheck);
    return (value) => checks.some((fits) => fits(value));
  },
};

/** @throws TypeError for a schema with a keyword that it does not know */
export function plainCheck(schema: Schema): Verdict {
  const checks = Object.entries(schema)
    .filter(([keyword]) => !ANNOTATIONS.has(keyword))
    .map(([keyword, argument]) => (KEYWORDS[keyword] ?? refuse(keyword))(argument as never, schema));
  return (value) => checks.every((fits) => fits(value));
}

function refuse(what: string): never {
  throw new TypeError(
    `No schema of our own may use ${what}: give it a rule here, and in the test beside ajv.`,
  );
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Each keyword constrains one type and ignores the others. */
function ofObject(fits: (value: { readonly [key: string]: unknown }) => boolean): Verdict {
  return (value) => !isObject(value) || fits(value);
}

function ofList(fits: (list: readonly unknown[]) => boolean): Verdict {
  return (value) => !Array.isArray(value) || fits(value);
}

function ofNumber(fits: (value: number) => boolean): Verdict {
  return (value) => typeof value !== 'number' || fits(value);
}

function ofText(fits: (text: string) => boolean): Verdict {
  return (value) => typeof value !== 'string' || fits(value);
}

function isOneOf(values: readonly JsonValue[]): Verdict {
  if (values.some((value) => typeof value === 'object' && value !== null)) refuse('an object as a constant');
  return (value) => values.includes(value as JsonValue);
}

/** JSON Schema counts characters, not UTF-16 code units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
