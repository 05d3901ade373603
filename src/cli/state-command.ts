/** `rekindle state`: durable documents: their content, their history, and edits by people. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { isRekindleError, RekindleError } from '../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.js';
import { applyPatch, type JsonPatchStep } from '../core/json-patch.js';
import { describeProblem, type EditProblem } from '../state/durable/edit-verdict.js';
import { definitionOf, documentNames } from '../state/durable/migrate-documents.js';
import type { StateDefinition } from '../state/durable/state-definition.js';
import type { StateEvent } from '../state/durable/state-event.js';
import { StateManager } from '../state/durable/state-manager.js';
import type { StateInspection } from '../state/durable/state-snapshot.js';
import type { StorageBackend } from '../storage/ports.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { excerpt } from './safe-text.js';
import { definitionsToLook, loadDefinitions, notRunLines, requiredDefinition } from './state-definitions.js';
import { initState } from './state-init.js';
import { addSubcommand } from './subcommand.js';
import { changeLine, typedValue, wholeNumber } from './value-text.js';

interface StateOptions extends CommonOptions {
  readonly definitions?: string;
  readonly at?: string;
  readonly limit?: string;
  readonly by?: string;
  readonly why?: string;
}

type State = StateManager<JsonObject>;

const DEFINITIONS = [
  '--definitions <folder>',
  'folder of the <name>.state.mjs files, which are executed (default: ./rekindle for commands that change something, none for read-only ones)',
] as const;

export function addStateCommand(program: Command): void {
  const state = program
    .command('state')
    .description('durable documents: show, change, history, edits by people');
  const add = (usage: string, text: string, options: readonly (readonly [string, string])[], run: StateRun) =>
    addSubcommand<StateOptions>(state, usage, text, [DEFINITIONS, ...options], (args, given) =>
      runCommand(given, (context) => run(context, args, given)),
    );
  add(
    'init <name>',
    'begin a document: two schemas, a migration and an initial value, or a built-in one',
    [],
    init,
  );
  add('list', 'the documents, and whether file and journal agree', [], list);
  add('show <name>', 'the newest version, or an older one', [['--at <version>', 'the version']], show);
  add(
    'history <name>',
    'the changes with author, time and reason, newest first',
    [['--limit <n>', 'default 20']],
    history,
  );
  add('diff <name> <from> <to>', 'the difference between two versions', [], diff);
  add('validate <name>', 'check the current file; exit code 1 if it would be refused', [], validate);
  add(
    'set <name> <pointer> <value>',
    'change one value (JSON, or a text) at a JSON Pointer',
    [
      ['--by <who>', 'default human'],
      ['--why <text>', 'the reason, for the history'],
    ],
    set,
  );
  add('discard-edit <name>', 'move a refused edit aside and write the newest version again', [], discardEdit);
}

type StateRun = (
  context: CommandContext,
  args: readonly string[],
  options: StateOptions,
) => Promise<number | undefined>;

/** For a read-only command. */
async function toLookAt<T>(
  { storage }: { readonly storage: StorageBackend },
  name: string,
  options: StateOptions,
  run: (state: State) => Promise<T>,
): Promise<T> {
  const { definitions, notRun } = await definitionsToLook(options.definitions);
  return withDefinition(storage, requiredDefinition(definitions, name, notRun), run);
}

/** For a command that changes the document. */
async function toChange<T>(
  { storage }: { readonly storage: StorageBackend },
  name: string,
  options: StateOptions,
  run: (state: State) => Promise<T>,
): Promise<T> {
  return withDefinition(storage, requiredDefinition(await loadDefinitions(options.definitions), name), run);
}

async function withDefinition<T>(
  storage: StorageBackend,
  definition: StateDefinition,
  run: (state: State) => Promise<T>,
): Promise<T> {
  const { initial: _, ...rest } = definition;
  const state = new StateManager<JsonObject>({ ...rest, backend: storage });
  try {
    return await run(state);
  } finally {
    await state.close();
  }
}

async function init(
  { storage, print }: CommandContext,
  [name = '']: readonly string[],
  options: StateOptions,
) {
  const result = await initState(storage, name, options.definitions);
  const began = result.began
    ? `began state/${result.name}.json`
    : `state/${result.name}.json already exists.`;
  const next = result.files.length === 0 ? [] : ['Next: rekindle migrate --dry-run --definitions rekindle'];
  const schema = result.schema === undefined ? [] : [`Its schema: ${result.schema}`];
  print([...result.files.map((file) => `wrote ${file}`), began, ...schema, ...next], result);
  return undefined;
}

async function list({ storage, print }: CommandContext, _: readonly string[], options: StateOptions) {
  const { definitions, notRun } = await definitionsToLook(options.definitions);
  const found = [];
  for (const name of await documentNames(storage)) found.push(await summarize(storage, definitions, name));
  const table = new Table({
    head: ['document', 'version', 'schema', 'by', 'at', 'file'],
    style: { head: [], border: [] },
  });
  for (const { name, version, schemaVersion, by, at, file } of found)
    table.push([
      excerpt(name, 48),
      version ?? '-',
      String(schemaVersion ?? '-'),
      excerpt(by ?? '-', 24),
      at ?? '-',
      file,
    ]);
  const none = ['No documents here.', 'Begin one with: rekindle state init agent_state'];
  const lines = found.length === 0 ? none : [table.toString()];
  print([...lines, ...notRunLines(notRun)], { documents: found, notRun });
  return undefined;
}

async function summarize(storage: StorageBackend, definitions: readonly StateDefinition[], name: string) {
  const nothing = { name, version: null, schemaVersion: null, by: null, at: null };
  const definition = definitionOf(definitions, name);
  if (!definition) return { ...nothing, file: 'no definition' };
  const state = new StateManager<JsonObject>({ ...definition, name, backend: storage });
  try {
    const { current, pending, refused } = await state.inspect();
    const schemaVersion = current?.value['schema_version'] ?? null;
    const file = refused ? 'edit refused' : (pending ?? 'in step');
    return {
      name,
      version: current?.version ?? null,
      schemaVersion,
      by: current?.by ?? null,
      at: current?.at ?? null,
      file,
    };
  } catch (thrown) {
    if (!(thrown instanceof RekindleError)) throw thrown;
    return { ...nothing, file: thrown.code };
  } finally {
    await state.close();
  }
}

async function show(context: CommandContext, [name = '']: readonly string[], options: StateOptions) {
  return toLookAt(context, name, options, async (state) => {
    const version = options.at === undefined ? null : wholeNumber(options.at, '--at');
    const found = version === null ? (await state.inspect()).current : await state.at(version);
    if (!found) throw notFound(name, version);
    context.print([JSON.stringify(found.value, null, 2)], found);
    return undefined;
  });
}

async function history(context: CommandContext, [name = '']: readonly string[], options: StateOptions) {
  return toLookAt(context, name, options, async (state) => {
    const events: StateEvent[] = [];
    const lines: string[] = [];
    for await (const event of state.history({ limit: wholeNumber(options.limit ?? '20', '--limit') })) {
      events.push(event);
      lines.push(...eventLines(event, await changesOf(state, event)));
    }
    if (events.length === 0) throw notFound(name, null);
    context.print(lines, { name, events: events as unknown as JsonValue });
    return undefined;
  });
}

/**
 * Some events store the whole value (edits by people, small documents), so compare with the version before.
 */
async function changesOf(state: State, { version, patch }: StateEvent): Promise<readonly JsonPatchStep[]> {
  if (patch || version === 1) return patch ?? [];
  try {
    return await state.diff(version - 1, version);
  } catch (thrown) {
    if (isRekindleError(thrown)) return []; // still show the readable part of a damaged journal
    throw thrown;
  }
}

function eventLines(
  { version, at, by, event, why }: StateEvent,
  changes: readonly JsonPatchStep[],
): string[] {
  const head = `${version}  ${at}  ${excerpt(by, 48)}  ${event}${why === null ? '' : `: ${excerpt(why, 120)}`}`;
  return [head, ...changes.map((step) => `     ${changeLine(step)}`)];
}

async function diff(
  context: CommandContext,
  [name = '', from = '', to = '']: readonly string[],
  options: StateOptions,
) {
  return toLookAt(context, name, options, async (state) => {
    const changes = await state.diff(wholeNumber(from, 'from'), wholeNumber(to, 'to'));
    context.print(changes.length === 0 ? ['No difference.'] : changes.map(changeLine), {
      name,
      changes: changes as unknown as JsonValue,
    });
    return undefined;
  });
}

async function validate(context: CommandContext, [name = '']: readonly string[], options: StateOptions) {
  return toLookAt(context, name, options, async (state) => {
    const inspection = await inspected(state);
    const { current, refused } = inspection;
    if (!current && inspection.pending === null && !refused) throw notFound(name, null);
    const problems = refused?.problems ?? [];
    const lines = problems.length > 0 ? problems.map(describeProblem) : [describePending(name, inspection)];
    context.print(lines, {
      name,
      valid: !refused,
      pending: inspection.pending,
      problems: problems as unknown as JsonValue,
    });
    return refused ? EXIT.problem : EXIT.ok;
  });
}

/** `inspect` refuses a file without a journal; here that is the expected case. */
async function inspected(state: State): Promise<StateInspection<JsonObject>> {
  try {
    return await state.inspect();
  } catch (thrown) {
    const problems = isRekindleError(thrown, 'STATE_INVALID') ? thrown.details['problems'] : undefined;
    if (!Array.isArray(problems)) throw thrown;
    const found = problems as unknown as EditProblem[];
    return { current: null, pending: null, refused: { code: 'STATE_INVALID', problems: found } };
  }
}

function describePending(name: string, { pending }: StateInspection<JsonObject>): string {
  if (pending === 'adopt')
    return `state/${name}.json was edited by a person; the edit is valid and will be adopted.`;
  return pending === null ? `state/${name}.json is valid.` : `state/${name}.json is valid; next: ${pending}.`;
}

async function set(
  context: CommandContext,
  [name = '', pointer = '', text = '']: readonly string[],
  options: StateOptions,
) {
  return toChange(context, name, options, async (state) => {
    const value = typedValue(text);
    await state.load();
    const changed = await state.update((draft) => setAt(draft, pointer, value), {
      by: options.by ?? 'human',
      ...(options.why === undefined ? {} : { why: options.why }),
    });
    context.print([`${name} is at version ${changed.version}.`], changed);
    return undefined;
  });
}

function setAt(document: JsonObject, pointer: string, value: JsonValue): JsonObject {
  if (pointer === '' && !isJsonObject(value))
    throw new RekindleError('INVALID_ARGUMENT', 'The whole document must be a JSON object.', {
      details: { argument: 'value' },
    });
  try {
    return replaceOrAdd(document, pointer, value) as JsonObject;
  } catch (cause) {
    throw new RekindleError(
      'INVALID_ARGUMENT',
      `There is no place ${JSON.stringify(pointer)} in the document.`,
      {
        details: { argument: 'pointer', pointer },
        cause,
      },
    );
  }
}

/** `add` alone would insert a value before a list item instead of replacing it. */
function replaceOrAdd(document: JsonObject, path: string, value: JsonValue): JsonValue {
  try {
    return applyPatch(document, [{ op: 'replace', path, value }]);
  } catch {
    return applyPatch(document, [{ op: 'add', path, value }]);
  }
}

async function discardEdit(context: CommandContext, [name = '']: readonly string[], options: StateOptions) {
  return toChange(context, name, options, async (state) => {
    const aside = await state.discardEdit();
    context.print([aside === null ? 'There is no refused edit.' : `The edit was moved to state/${aside}.`], {
      name,
      aside,
    });
    return undefined;
  });
}

function notFound(name: string, version: number | null): RekindleError {
  const what =
    version === null
      ? `no document ${JSON.stringify(name)}`
      : `no version ${version} of ${JSON.stringify(name)}`;
  return new RekindleError('STATE_NOT_FOUND', `There is ${what} here.`, { details: { name, version } });
}
