/** JSON Schema (2020-12) checks by ajv: compiled once, never coercing, filling or mutating. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import type { JsonObject } from './json.js';

const ajv = new Ajv2020({
  allErrors: true,
  strict: false,
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  // Formats are annotations, as 2020-12 has it; and a tool's schema is not ours to complain about on the console.
  validateFormats: false,
  logger: false,
  addUsedSchema: false,
});

export interface SchemaViolation {
  /** JSON Pointer; empty for the value itself. */
  readonly path: string;
  readonly rule: string;
  readonly message: string;
}

export interface SchemaCheck {
  (value: unknown): boolean;
  /** Of the last call that returned false. */
  violations(): SchemaViolation[];
}

/** Compiles a schema. Throws ajv's error for a schema that is none: the caller says whose it is. */
export function compileSchema(schema: TSchema | JsonObject): SchemaCheck {
  const validate: ValidateFunction = ajv.compile(schema as JsonObject);
  const check = (value: unknown): boolean => validate(value) === true;
  return Object.assign(check, {
    violations: () =>
      (validate.errors ?? []).map((error) => ({
        path: error.instancePath,
        rule: error.keyword,
        message: error.message ?? error.keyword,
      })),
  });
}

/** Compiles at first use: start-up pays only for the schemas it needs. */
export function lazySchema(schema: TSchema): () => SchemaCheck {
  let check: SchemaCheck | undefined;
  return () => (check ??= compileSchema(schema));
}
