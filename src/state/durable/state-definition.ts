/** What a durable document is: its name, its schema, how older versions become this one, and what it begins with. */
import type { XStatic } from 'typebox/schema';
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { compileSchema, type SchemaCheck, type SchemaViolation } from '../../core/schema-check.js';
import { SHOWS } from './shown-version.js';

/** A JSON Schema (2020-12) of an object, or a TypeBox schema. It has a required `schema_version` with a `const`. */
export type StateSchema = object;

/** The type of the documents that a schema allows. */
export type StateOf<Schema> = XStatic<Schema>;

/** One step forward. */
export interface Migration {
  /** The version that it starts from; it leads to the next one. */
  readonly from: number;
  /** The schema of that version: with it, what the step is given is checked too, and `--to` can stop there. */
  readonly schema?: StateSchema;
  /** Gets a copy and returns the next version's document. Pure: no clock, no files. `schema_version` is set for it. */
  migrate(old: JsonObject): JsonObject;
}

export interface StateDefinition<Schema extends StateSchema = StateSchema> {
  readonly name: string;
  readonly schema: Schema;
  /** In any order; without gaps up to the version of `schema`. */
  readonly migrations?: readonly Migration[];
  /** What the document begins with where there is none. */
  readonly initial?: unknown;
  /** Rules that a schema cannot say. Pure. */
  readonly check?: (value: JsonObject) => readonly SchemaViolation[];
}

/** Says what a document is. The type of its values comes from the schema. @throws INVALID_ARGUMENT */
export function defineState<const Schema extends StateSchema>(
  definition: StateDefinition<Schema>,
): StateDefinition<Schema> {
  compileState(definition);
  return definition;
}

/** A definition, checked, with its schema compiled. */
export interface CompiledState {
  readonly definition: StateDefinition;
  /** The version that documents have here. */
  readonly version: number;
  readonly migrations: ReadonlyMap<number, Migration>;
  /** The document records when a person touched it. */
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
      throw invalid(definition.name, `The schema of the migration from ${from} is of another version.`);
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

/** The same document as it was at an older version. @throws INVALID_ARGUMENT when the schema of that version is not declared */
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

/** Each schema is compiled once in a process. */
const COMPILED = new WeakMap<object, SchemaCheck>();

export function compiled(name: string, schema: StateSchema): SchemaCheck {
  let check = COMPILED.get(schema);
  if (check) return check;
  try {
    check = compileSchema(schema as JsonObject);
  } catch (cause) {
    throw invalid(name, 'Its schema is no JSON Schema (2020-12).', cause);
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
    `The definition of ${JSON.stringify(name)} is refused. ${problem}`,
    {
      details: { name: String(name), problem },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
