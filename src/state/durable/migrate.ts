/** Migrates a document, one version at a time. Pure. */
import { isRekindleError, messageOf, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { type CompiledState, compiled, type Migration, versionOfDocument } from './state-definition.js';
import { checkedValue } from './state-value.js';

export interface MigratedDocument {
  readonly value: JsonObject;
  readonly from: number;
  readonly to: number;
}

/**
 * The document at the version of the definition; unchanged if it has that version already.
 * @throws UNSUPPORTED_VERSION if its version is newer or older than all known ones, MIGRATION_FAILED
 */
export function migrateDocument(state: CompiledState, document: JsonObject): MigratedDocument {
  const from = knownVersion(state, document);
  let value = document;
  for (let version = from; version < state.version; version += 1) {
    const step = state.migrations.get(version)!;
    const context = { name: state.definition.name, from: version, to: version + 1 };
    assertFits(step, value, context);
    value = { ...run(step, value, context), schema_version: version + 1 };
  }
  if (from < state.version) assertResult(state, value, from);
  return { value, from, to: state.version };
}

interface StepPlace {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

function run(step: Migration, value: JsonObject, place: StepPlace): JsonObject {
  let migrated: unknown;
  try {
    migrated = step.migrate(structuredClone(value));
  } catch (thrown) {
    throw failed(place, `it threw: ${messageOf(thrown)}`, thrown);
  }
  if (!isJsonObject(migrated)) throw failed(place, 'it returned no object');
  return migrated;
}

function assertFits(step: Migration, value: JsonObject, place: StepPlace): void {
  if (!step.schema) return;
  const check = compiled(place.name, step.schema);
  if (check(value)) return;
  const { path, message } = check.violations()[0]!;
  throw failed(place, `the document does not fit version ${place.from}: ${path} ${message}`);
}

function assertResult(state: CompiledState, value: JsonObject, from: number): void {
  try {
    checkedValue(state, value);
  } catch (thrown) {
    if (!isRekindleError(thrown)) throw thrown;
    const place = { name: state.definition.name, from, to: state.version };
    throw failed(place, `what it made is refused: ${thrown.message}`, thrown);
  }
}

function failed(place: StepPlace, why: string, cause?: unknown): RekindleError {
  const { name, from, to } = place;
  return new RekindleError(
    'MIGRATION_FAILED',
    `The migration of ${name} from ${from} to ${to} failed: ${why.replace(/\.$/, '')}.`,
    {
      details: { name, from, to, why },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

function knownVersion(state: CompiledState, document: JsonObject): number {
  const version = versionOfDocument(document);
  const known = version !== null && (version === state.version || state.migrations.has(version));
  if (known) return version;
  const given = JSON.stringify(document['schema_version']) ?? 'none';
  throw new RekindleError(
    'UNSUPPORTED_VERSION',
    `${state.definition.name} has schema version ${given}. Known versions: ${knownVersions(state).join(', ')}.`,
    { details: { name: state.definition.name, given, known: knownVersions(state) } },
  );
}

function knownVersions(state: CompiledState): number[] {
  return [
    ...[...state.migrations.keys()].filter((from) => from < state.version).sort((a, b) => a - b),
    state.version,
  ];
}
