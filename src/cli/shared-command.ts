/** `rekindle shared`: the state that a root session shares with its children: read, set, history, watch. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import type { JsonValue } from '../core/json.js';
import { quoteLargeIntegers } from '../core/json-digits.js';
import { SharedSessions } from '../state/shared/shared-sessions.js';
import type { SharedState } from '../state/shared/shared-state.js';
import type { StateChange } from '../state/shared/shared-table.js';
import { actorFor } from './actor.js';
import { type CommandContext, type CommonOptions, jsonLine, runCommand } from './command-context.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';
import { LIMIT_SUBCOMMAND_OPTIONS, limitsOf, type SharedLimitOptions } from './shared-limit-options.js';
import { addSubcommand } from './subcommand.js';
import { untilStopped } from './until-stopped.js';
import { readStdin, typedValue, wholeNumber } from './value-text.js';

interface SharedOptions extends CommonOptions, SharedLimitOptions {
  readonly prefix?: string;
  readonly at?: string;
  readonly ifVersion?: string;
  readonly session?: string;
  readonly key?: string;
  readonly limit?: string;
}

interface SharedRequest {
  readonly state: SharedState;
  readonly shared: SharedSessions;
  readonly context: CommandContext;
  /** The arguments after the session. */
  readonly args: readonly string[];
  readonly options: SharedOptions;
}

type SharedRun = (request: SharedRequest) => Promise<void>;

export function addSharedCommand(program: Command): void {
  const parent = program
    .command('shared')
    .description('the state that a session shares with its root: get, set, delete, history, watch');
  const add = (
    usage: string,
    text: string,
    options: readonly (readonly [string, string])[],
    run: SharedRun,
  ) =>
    addSubcommand<SharedOptions>(parent, usage, text, options, ([session = '', ...args], given) =>
      runCommand(given, async (context) => {
        const shared = new SharedSessions(context.storage, { limits: limitsOf(given) });
        try {
          await run({ state: await shared.stateOf(session), shared, context, args, options: given });
          return undefined;
        } finally {
          await shared.close();
        }
      }),
    );
  const prefix = ['--prefix <text>', 'only keys that begin with it'] as const;
  const ifVersion = ['--if-version <n>', 'only if the key is at this version; 0: has no value'] as const;
  add(
    'get <session> [key]',
    'the value of a key; without a key, all keys',
    [prefix, ['--at <version>', 'at an earlier global version']],
    get,
  );
  add(
    'set <session> <key> [value]',
    'set a key: JSON or text (default: from standard input)',
    [ifVersion, ...LIMIT_SUBCOMMAND_OPTIONS],
    set,
  );
  add(
    'delete <session> <key>',
    'delete a key; its history stays',
    [ifVersion, ...LIMIT_SUBCOMMAND_OPTIONS],
    remove,
  );
  add(
    'history <session>',
    'the changes of all keys, newest first',
    [
      ['--key <key>', 'only of this key'],
      ['--session <id>', 'only by this session, or by this person'],
      ['--limit <n>', 'default 20'],
    ],
    history,
  );
  add('watch <session>', 'print each change as it is made, until Ctrl-C', [prefix], watch);
}

const get: SharedRun = async ({ state, context: { print }, args: [key], options }) => {
  const at = options.at === undefined ? null : wholeNumber(options.at, '--at', 0);
  if (key !== undefined) {
    const past = at === null ? null : (await state.at(at)).keys;
    const found = past ? past.find((entry) => entry.key === key) : await state.get(key);
    if (!found) throw keyNotFound(key);
    return print([JSON.stringify(found.value, null, 2)], found);
  }
  const { globalVersion, keys } = at === null ? await state.getAll() : await state.at(at);
  const shown = keys.filter((entry) => entry.key.startsWith(options.prefix ?? ''));
  const table = new Table({ head: ['key', 'version', 'by', 'at', 'value'], style: { head: [], border: [] } });
  for (const { key, version, updatedBy, updatedAt, value } of shown)
    table.push([
      excerpt(key, 48),
      version,
      excerpt(updatedBy, 32),
      updatedAt,
      excerpt(JSON.stringify(value), 60),
    ]);
  const lines = shown.length === 0 ? ['No key has a value.'] : [table.toString()];
  print([...lines, `${count(shown.length, 'key')}, at global version ${globalVersion}.`], {
    root: state.root,
    globalVersion,
    keys: shown as unknown as JsonValue,
  });
};

const set: SharedRun = async ({ state, shared, context: { print }, args: [key = '', given], options }) => {
  const value = exactValue(given ?? (await readStdin()).replace(/\r?\n$/, ''));
  const by = await actorFor(shared.tree, state.root);
  const changed = await state.set(key, value, { by, ...conditionOf(options) });
  print([`${excerpt(key, 200)} is at version ${changed.version}, set by ${excerpt(by, 128)}.`], changed);
};

const remove: SharedRun = async ({ state, shared, context: { print }, args: [key = ''], options }) => {
  const by = await actorFor(shared.tree, state.root);
  if (!(await state.delete(key, { by, ...conditionOf(options) }))) throw keyNotFound(key);
  print([`${excerpt(key, 200)} is deleted; its history stays.`], { key, deleted: true, by });
};

const history: SharedRun = async ({ state, context: { print }, options }) => {
  const { changes, complete } = await state.changes({
    limit: wholeNumber(options.limit ?? '20', '--limit'),
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(options.session === undefined ? {} : { by: options.session }),
  });
  const lines = changes.length === 0 ? ['No changes found.'] : changes.map(changeLine);
  const more = complete ? [] : ['Older changes were removed, or are beyond the limit.'];
  print([...lines, ...more], {
    root: state.root,
    complete,
    changes: changes.map(changeJson),
  });
};

const watch: SharedRun = async ({ state, context, options }) => {
  const stopped = untilStopped();
  const write = (line: string, value: object) =>
    context.json ? process.stdout.write(jsonLine(value)) : context.print([line], value);
  const stop = await state.watch(options.prefix ?? '', (change) =>
    write(changeLine(change), { type: 'change', ...changeJson(change) }),
  );
  const off = state.events.on('reloaded', ({ globalVersion }) =>
    write(`The state was read again, at global version ${globalVersion}. Changes may be missing here.`, {
      type: 'reloaded',
      globalVersion,
    }),
  );
  const { globalVersion } = await state.position();
  const start = `Watching the state of ${excerpt(state.root, 128)} from global version ${globalVersion}. Ctrl-C stops.`;
  write(start, { type: 'watching', root: state.root, globalVersion });
  await stopped;
  off();
  await stop();
};

function changeLine({ globalVersion, at, by, op, key, version, value }: StateChange): string {
  const shown = value === undefined ? '' : `  ${excerpt(JSON.stringify(value), 100)}`;
  return `${globalVersion}  ${at}  ${excerpt(by, 48)}  ${op}  ${excerpt(key, 100)}  version ${version}${shown}`;
}

function changeJson({ value, bytes: _, ...change }: StateChange) {
  return { ...change, ...(value === undefined ? {} : { value }) };
}

function conditionOf({ ifVersion }: SharedOptions): { readonly ifVersion?: number } {
  return ifVersion === undefined ? {} : { ifVersion: wholeNumber(ifVersion, '--if-version', 0) };
}

/** @throws INVALID_ARGUMENT for JSON with a number that would be rounded */
function exactValue(text: string): JsonValue {
  const value = typedValue(text);
  if (value === text || quoteLargeIntegers(text) === text) return value;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    'The value has a number with too many digits (above 2^53), which would be rounded. Give it as text.',
    { details: { argument: 'value' } },
  );
}

function keyNotFound(key: string): RekindleError {
  return new RekindleError('ENTRY_NOT_FOUND', `The key ${JSON.stringify(key)} has no value.`, {
    details: { key },
  });
}
