/** JSON Schema (2020-12) checks by ajv: compiled at first use, never coercing, filling or mutating. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonObject, JsonValue } from './json.js';
import { plainCheck, type Verdict } from './plain-check.js';
import type { TSchema } from './schema.js';

const OPTIONS = {
  strict: false,
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  // Formats are annotations in 2020-12, and a tool's schema must not cause warnings on the console.
  validateFormats: false,
  logger: false,
  verbose: true, // errors carry the rejected value
  addUsedSchema: false,
} as const;
let all: Ajv2020 | undefined;
let first: Ajv2020 | undefined;

function ajv(): Ajv2020 {
  return (all ??= new Ajv2020({ ...OPTIONS, allErrors: true }));
}

/** For untrusted input: a large value that is invalid throughout gives one violation, not a million. */
function ajvFirst(): Ajv2020 {
  return (first ??= new Ajv2020({ ...OPTIONS, allErrors: false, discriminator: true }));
}

export interface SchemaViolation {
  /** JSON Pointer; empty for the value itself. */
  readonly path: string;
  readonly rule: string;
  readonly message: string;
  /** The value at the path; null if there is none. */
  readonly value: JsonValue;
}

export interface SchemaCheck {
  (value: unknown): boolean;
  /** Violations of the last call that returned false. */
  violations(): SchemaViolation[];
}

/** Compiles a schema. Throws ajv's error for an invalid schema; the caller adds which schema it is. */
export function compileSchema(
  schema: TSchema | JsonObject,
  options: { readonly firstOnly?: boolean } = {},
): SchemaCheck {
  const validate: ValidateFunction = (options.firstOnly ? ajvFirst() : ajv()).compile(schema as JsonObject);
  const check = (value: unknown): boolean => validate(value) === true;
  return Object.assign(check, {
    violations: () =>
      (validate.errors ?? []).map((error) => ({
        path: error.instancePath,
        rule: error.keyword,
        message: describe(error),
        value: (error.data ?? null) as JsonValue,
      })),
  });
}

/** ajv names the rule. A person also needs the key, or the allowed values. */
function describe(error: ErrorObject): string {
  const { message, keyword, params } = error;
  if (keyword === 'discriminator') return describeTag(error);
  if (keyword === 'additionalProperties')
    return `must not have the key ${JSON.stringify(params['additionalProperty'])}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params['allowedValue'])}`;
  if (keyword === 'enum')
    return `must be one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`;
  return message ?? keyword;
}

/** No alternative matches the tag, so the message lists all of them. */
function describeTag({ params, parentSchema }: ErrorObject): string {
  const tag = String(params['tag']);
  const alternatives = (parentSchema?.['oneOf'] ?? []) as {
    properties?: Record<string, { const?: unknown }>;
  }[];
  const names = alternatives.map(({ properties }) => JSON.stringify(properties?.[tag]?.const));
  return `must have as ${JSON.stringify(tag)} one of ${names.join(', ')}`;
}

/** For one of our own schemas, compiled on first use. ajv is used only for invalid values. */
export function lazySchema(schema: TSchema): () => SchemaCheck {
  let check: SchemaCheck | undefined;
  return () => (check ??= ownSchema(schema as JsonObject));
}

function ownSchema(schema: JsonObject): SchemaCheck {
  const fits: Verdict = plainCheck(schema);
  let refused: unknown;
  let explain: SchemaCheck | undefined;
  const check = (value: unknown): boolean => {
    if (fits(value)) return true;
    refused = value;
    return false;
  };
  return Object.assign(check, {
    violations: () => {
      explain ??= compileSchema(schema);
      return explain(refused) ? [] : explain.violations();
    },
  });
}
