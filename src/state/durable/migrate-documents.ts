/**
 * Migrates every document of a folder to the newest version of its definition. A document that fails is moved
 * into quarantine; the others continue.
 */
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../../core/json.js';
import { changesBetween, type JsonPatchStep } from '../../core/json-patch.js';
import type { SharedJournalName } from '../../storage/journal-check.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { migrateDocument } from './migrate.js';
import {
  type CompiledState,
  compileState,
  definitionAt,
  type StateDefinition,
  versionOfDocument,
} from './state-definition.js';
import { StateLog } from './state-log.js';
import { StateManager } from './state-manager.js';

/** Options of `migrateDocuments`. */
export interface MigrateOptions {
  /** Default `['state']`. */
  readonly folder?: Name;
  /** Stop at this version; newer documents stay. Default: the newest. */
  readonly to?: number;
  /** Only report what would happen. */
  readonly dryRun?: boolean;
}

/** What `migrateDocuments` did with one document. */
export interface MigrationResult {
  readonly name: string;
  /**
   * `refused`: the file contains an invalid edit by a person; file and document stay. `newer`: a newer
   * release wrote it. `unknown`: no definition fits its name.
   */
  readonly status:
    | 'current'
    | 'refused'
    | 'migrated'
    | 'would-migrate'
    | 'quarantined'
    | 'would-fail'
    | 'newer'
    | 'unknown';
  readonly from: number | null;
  readonly to: number | null;
  /** What the migration changes. */
  readonly changes: readonly JsonPatchStep[];
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Its new path below the folder, if it was moved into quarantine. */
  readonly quarantine: string | null;
}

/**
 * Migrates all documents of a folder. A document's name is that of its definition, or begins with it and a
 * dot: `task_board.team-a`. @throws INVALID_ARGUMENT
 */
export async function migrateDocuments(
  backend: StorageBackend,
  definitions: readonly StateDefinition[],
  options: MigrateOptions = {},
): Promise<MigrationResult[]> {
  const folder = options.folder ?? ['state'];
  const names = await documentNames(backend, folder);
  // Resolve all targets before the first change: a version that a definition does not declare is a mistake of
  // the caller.
  const targets = names.map((name) => targetOf(definitionOf(definitions, name), name, options.to));
  const results: MigrationResult[] = [];
  for (const [index, name] of names.entries()) {
    const target = targets[index];
    if (!target) results.push({ ...plain(name), status: 'unknown' });
    else results.push(await migrateOne(backend, folder, target, options.dryRun ?? false));
  }
  return results;
}

function targetOf(
  definition: StateDefinition | undefined,
  name: string,
  to: number | undefined,
): StateDefinition | null {
  if (!definition) return null;
  const named = { ...definition, name };
  return to === undefined ? named : definitionAt(named, Math.min(to, compileState(definition).version));
}

/** The documents in a folder, sorted: those with a file, and those with only a journal. */
export async function documentNames(backend: StorageBackend, folder: Name = ['state']): Promise<string[]> {
  const names = await backend.listNames(folder);
  const found = names.flatMap((name) => /^(.+?)(?:\.events\.jsonl|\.json|\.events)$/.exec(name)?.[1] ?? []);
  return [...new Set(found)].filter((name) => !/\.(?:refused|quarantine)-/.test(name)).sort();
}

/** The journals of the documents in a folder. */
export async function stateJournals(
  backend: StorageBackend,
  folder: Name = ['state'],
): Promise<SharedJournalName[]> {
  const names = await documentNames(backend, folder);
  return names.map((name) => ({
    journal: [...folder, `${name}.events`],
    lease: [...folder, `${name}.lease`],
  }));
}

/** The definition of a document, by its name. */
export function definitionOf(
  definitions: readonly StateDefinition[],
  name: string,
): StateDefinition | undefined {
  return definitions.find((definition) => name === definition.name || name.startsWith(`${definition.name}.`));
}

async function migrateOne(
  backend: StorageBackend,
  folder: Name,
  target: StateDefinition,
  dryRun: boolean,
): Promise<MigrationResult> {
  const { name } = target;
  const state = compileState(target);
  const result = plain(name);
  const before = await storedValue(backend, folder, name);
  const from = before && versionOfDocument(before);
  if (from !== null && from > state.version) return { ...result, status: 'newer', from, to: from };
  try {
    if (from === state.version) return { ...result, from, to: from };
    const value = await migratedOrMended(before ?? notAnObject(name), state, () =>
      isMendedByHand(backend, folder, target),
    );
    const found = { ...result, from, to: state.version, changes: changesBetween(before!, value) };
    if (dryRun) return { ...found, status: 'would-migrate' };
    const refused = await open(backend, folder, target);
    return refused ? { ...found, status: 'refused', error: refused } : { ...found, status: 'migrated' };
  } catch (thrown) {
    if (!isFault(thrown)) throw thrown;
    const error = { code: thrown.code, message: thrown.message };
    if (dryRun) return { ...result, status: 'would-fail', from, error };
    const quarantine = await putIntoQuarantine(backend, folder, name, thrown);
    return { ...result, status: 'quarantined', from, error, quarantine };
  }
}

/** Opening migrates the document, but an invalid edit by a person comes first. */
async function open(
  backend: StorageBackend,
  folder: Name,
  target: StateDefinition,
): Promise<MigrationResult['error']> {
  const { initial: _, ...rest } = target;
  try {
    await (await StateManager.open({ ...rest, backend, folder })).close();
    return null;
  } catch (thrown) {
    if (!isRekindleError(thrown, 'HUMAN_EDIT')) throw thrown;
    return { code: thrown.code, message: thrown.message };
  }
}

/** The migrated value; the stored value if a person fixed by hand what the migration cannot. */
async function migratedOrMended(
  before: JsonObject,
  state: CompiledState,
  isMended: () => Promise<boolean>,
): Promise<JsonObject> {
  try {
    return migrateDocument(state, before).value;
  } catch (thrown) {
    if (await isMended().catch(() => false)) return before;
    throw thrown;
  }
}

/** The file contains a valid edit by a person, who may have fixed by hand what a migration cannot. */
async function isMendedByHand(
  backend: StorageBackend,
  folder: Name,
  target: StateDefinition,
): Promise<boolean> {
  const manager = new StateManager({ ...target, backend, folder });
  try {
    return (await manager.inspect()).pending === 'adopt';
  } finally {
    await manager.close();
  }
}

/**
 * The stored value: the newest version in the journal, else the file. Writes nothing. Null for a file that is
 * not an object.
 */
async function storedValue(backend: StorageBackend, folder: Name, name: string): Promise<JsonObject | null> {
  const log = new StateLog(backend, { folder, name, onVersion: () => {}, rescue: async () => null });
  try {
    await log.refresh();
    if (log.current) return log.current.value;
  } finally {
    await log.close();
  }
  const bytes = await backend.documents.readBytes([...folder, `${name}.json`]);
  const value = bytes
    ? tryParseJson(
        Buffer.from(bytes)
          .toString('utf8')
          .replace(/^\ufeff/, ''),
      )
    : undefined;
  return isJsonObject(value) ? value : null;
}

function notAnObject(name: string): never {
  throw new RekindleError('STATE_INVALID', `${name}.json does not contain a JSON object.`, {
    details: { name },
  });
}

/** An error in this document alone; others may be fine. */
function isFault(thrown: unknown): thrown is RekindleError {
  const codes = ['MIGRATION_FAILED', 'STATE_INVALID', 'STATE_TOO_LARGE', 'UNSUPPORTED_VERSION'];
  return isRekindleError(thrown) && codes.includes(thrown.code);
}

/** Moves the file to `quarantine/`, with the reason next to it. A journal stays and keeps the value. */
async function putIntoQuarantine(
  backend: StorageBackend,
  folder: Name,
  name: string,
  error: RekindleError,
): Promise<string | null> {
  const { documents } = backend;
  // Move it first, in one step, so that a file that a person saves meanwhile is not touched.
  const aside = await documents.setAside([...folder, `${name}.json`], 'quarantine');
  const bytes = aside === null ? null : await documents.readBytes([...folder, aside]);
  if (aside === null || !bytes) return null;
  const place = await freeName(backend, folder, name);
  await documents.writeBytes([...folder, 'quarantine', `${place}.json`], bytes, { ifVersion: null });
  const reason = { name, error: error.toJSON() as JsonValue };
  await documents.write([...folder, 'quarantine', `${place}.reason.json`], reason);
  await documents.delete([...folder, aside]);
  return `quarantine/${place}.json`;
}

async function freeName(backend: StorageBackend, folder: Name, name: string): Promise<string> {
  const taken = new Set(await backend.documents.list([...folder, 'quarantine']));
  for (let n = 1; ; n += 1) if (!taken.has(`${name}.${n}.json`)) return `${name}.${n}`;
}

function plain(name: string): MigrationResult {
  return { name, status: 'current', from: null, to: null, changes: [], error: null, quarantine: null };
}
