/** Defines durable documents: name, schema, migrations from older versions, and initial value. */
import type { XStatic } from 'typebox/schema';
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { compileSchema, type SchemaCheck, type SchemaViolation } from '../../core/schema-check.js';
import { SHOWS } from './shown-version.js';

/** A JSON Schema (2020-12) of an object, or a TypeBox schema. It has a required `schema_version` with a `const`. */
export type StateSchema = object;

/** The type of the documents that a schema allows. */
export type StateOf<Schema> = XStatic<Schema>;

/** One step of a migration, from one schema version to the next. */
export interface Migration {
  /** The version before this step. */
  readonly from: number;
  /** The schema of that version. With it, the input of the step is checked too, and `--to` can stop there. */
  readonly schema?: StateSchema;
  /**
   * Gets a copy and returns the document of the next version. It must be pure: no clock, no files.
   * `schema_version` is set automatically.
   */
  migrate(old: JsonObject): JsonObject;
}

/** A kind of durable document. Make it with `defineState`. */
export interface StateDefinition<Schema extends StateSchema = StateSchema> {
  readonly name: string;
  readonly schema: Schema;
  /** In any order, without gaps up to the version of `schema`. */
  readonly migrations?: readonly Migration[];
  /** The initial value of a new document. Without it, opening a missing document throws STATE_NOT_FOUND. */
  readonly initial?: unknown;
  /** Rules that a JSON Schema cannot express. Must be pure. */
  readonly check?: (value: JsonObject) => readonly SchemaViolation[];
}

/**
 * Defines a durable document. The type of its values is inferred from the schema.
 *
 *     const notes = defineState({
 *       name: 'notes',
 *       schema: { type: 'object', required: ['schema_version'], properties: { schema_version: { const: 1 } } },
 *       initial: { schema_version: 1 },
 *     });
 * @throws INVALID_ARGUMENT
 */
export function defineState<const Schema extends StateSchema>(
  definition: StateDefinition<Schema>,
): StateDefinition<Schema> {
  compileState(definition);
  return definition;
}

/** A checked definition with its compiled schema. */
export interface CompiledState {
  readonly definition: StateDefinition;
  /** The schema version of current documents. */
  readonly version: number;
  readonly migrations: ReadonlyMap<number, Migration>;
  /** The document has a field for the time of a person's last edit. */
  readonly hasHumanTouch: boolean;
  violations(value: unknown): SchemaViolation[];
}

/** @throws INVALID_ARGUMENT */
export function compileState(definition: StateDefinition): CompiledState {
  const version = versionOfSchema(definition.name, definition.schema);
  const schema = compiled(definition.name, definition.schema);
  if (Object.hasOwn(propertiesOf(definition.schema), SHOWS))
    throw invalid(definition.name, `The property ${SHOWS} is reserved for the file.`);
  const migrations = new Map((definition.migrations ?? []).map((step) => [step.from, step]));
  const first = Math.min(version, ...migrations.keys());
  for (let from = first; from < version; from += 1) {
    const step = migrations.get(from);
    if (!step) throw invalid(definition.name, `There is no migration from version ${from} to ${from + 1}.`);
    if (step.schema && versionOfSchema(definition.name, step.schema) !== from)
      throw invalid(definition.name, `The schema of the migration from ${from} has another version.`);
  }
  return {
    definition,
    version,
    migrations,
    hasHumanTouch: Object.hasOwn(propertiesOf(definition.schema), 'last_human_touch'),
    violations: (value) => {
      if (!schema(value)) return schema.violations();
      return [...(definition.check?.(value as JsonObject) ?? [])];
    },
  };
}

/**
 * The definition as of an older version. @throws INVALID_ARGUMENT if the schema of that version is not
 * declared
 */
export function definitionAt(definition: StateDefinition, version: number): StateDefinition {
  const current = versionOfSchema(definition.name, definition.schema);
  if (version === current) return definition;
  const step = definition.migrations?.find(({ from }) => from === version);
  if (!step?.schema) throw invalid(definition.name, `The schema of version ${version} is not declared.`);
  const { check: _, initial: __, ...rest } = definition;
  const migrations = (definition.migrations ?? []).filter(({ from }) => from < version);
  return { ...rest, schema: step.schema, migrations };
}

export function versionOfDocument(value: JsonObject): number | null {
  const version = value['schema_version'];
  return typeof version === 'number' && Number.isSafeInteger(version) && version > 0 ? version : null;
}

/** Each schema is compiled once per process. */
const COMPILED = new WeakMap<object, SchemaCheck>();

export function compiled(name: string, schema: StateSchema): SchemaCheck {
  let check = COMPILED.get(schema);
  if (check) return check;
  try {
    check = compileSchema(schema as JsonObject);
  } catch (cause) {
    throw invalid(name, 'Its schema is not a valid JSON Schema (2020-12).', cause);
  }
  COMPILED.set(schema, check);
  return check;
}

function versionOfSchema(name: string, schema: StateSchema): number {
  const field = propertiesOf(schema)['schema_version'];
  const version = isJsonObject(field) ? field['const'] : undefined;
  const { required } = schema as { readonly required?: unknown };
  const isRequired = Array.isArray(required) && required.includes('schema_version');
  if (typeof version === 'number' && Number.isSafeInteger(version) && version > 0 && isRequired)
    return version;
  throw invalid(
    name,
    'Its schema needs a required property `schema_version` with a whole number as `const`.',
  );
}

function propertiesOf(schema: StateSchema): JsonObject {
  const { properties } = schema as { readonly properties?: JsonObject };
  return isJsonObject(properties) ? properties : {};
}

function invalid(name: string, problem: string, cause?: unknown): RekindleError {
  return new RekindleError(
    'INVALID_ARGUMENT',
    `The definition of ${JSON.stringify(name)} is invalid. ${problem}`,
    {
      details: { name: String(name), problem },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
