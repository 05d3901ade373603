/** `rekindle workspace`: shared entries with their versions, contexts, tool calls, sessions. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import { WorkspaceConfig } from '../workspace/config/workspace-config.js';
import { selectContext } from '../workspace/context/selective-context.js';
import type { WriteNote } from '../workspace/entries/entry-check.js';
import { type EntryVersion, Workspace } from '../workspace/workspace.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { excerpt } from './safe-text.js';
import { addSubcommand } from './subcommand.js';
import { changeLine, readStdin, typedValue, wholeNumber } from './value-text.js';
import { addWorkspacePlan } from './workspace-plan.js';
import { addWorkspaceRecords } from './workspace-records.js';

interface WorkspaceOptions extends CommonOptions {
  readonly version?: string;
  readonly limit?: string;
  readonly agent?: string;
  readonly deleted?: boolean;
  readonly required?: string;
  readonly optional?: string;
  readonly excluded?: string;
  readonly budget?: string;
}

const NOTE_TEXT: Record<WriteNote, string> = {
  decoded: 'The value was a text with JSON in it, and was decoded.',
};

type WorkspaceRun = (
  workspace: Workspace,
  context: CommandContext,
  args: readonly string[],
  options: WorkspaceOptions,
) => Promise<void>;

export function addWorkspaceCommand(program: Command): void {
  const parent = program
    .command('workspace')
    .description('shared data of agents: entries, plans, contexts, tool calls, sessions');
  const add = (
    usage: string,
    text: string,
    options: readonly (readonly [string, string])[],
    run: WorkspaceRun,
  ) =>
    addSubcommand<WorkspaceOptions>(parent, usage, text, options, (args, given) =>
      runCommand(given, async (context) => {
        const workspace = new Workspace(context.storage);
        try {
          await run(workspace, context, args, given);
          return undefined;
        } finally {
          await workspace.close();
        }
      }),
    );
  const agent = ['--agent <name>', 'the author (default: human)'] as const;
  add('list', 'the entries', [['--deleted', 'include deleted entries']], list);
  add(
    'show <key>',
    'the newest version of an entry, or an older one',
    [['--version <n>', 'the version']],
    show,
  );
  add('history <key>', 'the versions of an entry, newest first', [['--limit <n>', 'default 10']], history);
  add('diff <key> <from> <to>', 'the difference between two versions', [], diff);
  add(
    'write <key> [value]',
    'write a new version: JSON or text (default: from standard input)',
    [agent],
    write,
  );
  add('rollback <key> <version>', 'write an older value as a new version', [agent], rollback);
  add('delete <key>', 'delete an entry; its history stays', [agent], remove);
  add(
    'context <agent>',
    'the context of an agent, in XML',
    [
      ['--required <keys>', 'keys, separated by commas'],
      ['--optional <keys>', 'keys, separated by commas'],
      ['--excluded <keys>', 'keys, separated by commas'],
      ['--budget <tokens>', 'default: from config/context_budgets.json'],
    ],
    context,
  );
  add('timing', 'when the agents wrote, and how often', [], timing);
  addWorkspacePlan(parent);
  addWorkspaceRecords(parent);
}

const list: WorkspaceRun = async (workspace, { print }, _, options) => {
  const entries = await workspace.list({ deleted: options.deleted ?? false });
  const table = new Table({ head: ['key', 'version', 'by', 'at', 'bytes'], style: { head: [], border: [] } });
  for (const { key, version, writtenBy, at, sizeBytes, deleted } of entries)
    table.push([excerpt(key, 48), version, excerpt(writtenBy, 24), at, deleted ? 'deleted' : sizeBytes]);
  print(entries.length === 0 ? ['The workspace is empty.'] : [table.toString()], {
    entries: entries as unknown as JsonValue,
  });
};

const show: WorkspaceRun = async (workspace, { print }, [key = ''], { version }) => {
  const entry =
    version === undefined
      ? await workspace.read(key)
      : await workspace.readVersion(key, wholeNumber(version, '--version'));
  if (!entry || entry.value === undefined) throw notFound(key, version);
  print([JSON.stringify(entry.value, null, 2)], entryJson(entry));
};

const history: WorkspaceRun = async (workspace, { print }, [key = ''], { limit = '10' }) => {
  const versions = await workspace.history(key, wholeNumber(limit, '--limit'));
  if (versions.length === 0) throw notFound(key);
  const lines = versions.map(({ version, at, writtenBy, event, from, value }) => {
    const what = event === 'rollback' ? `rollback to ${from}` : event;
    return `${version}  ${at}  ${excerpt(writtenBy, 48)}  ${what}  ${value === undefined ? '' : excerpt(JSON.stringify(value), 100)}`;
  });
  print(lines, { key, versions: versions.map(entryJson) });
};

const diff: WorkspaceRun = async (workspace, { print }, [key = '', from = '', to = '']) => {
  const changes = await workspace.diff(key, wholeNumber(from, 'from'), wholeNumber(to, 'to'));
  print(changes.length === 0 ? ['No difference.'] : changes.map(changeLine), {
    key,
    changes: changes as unknown as JsonValue,
  });
};

const write: WorkspaceRun = async (workspace, { print }, [key = '', given], { agent = 'human' }) => {
  const text = given ?? (await readStdin()).replace(/\r?\n$/, '');
  const written = await workspace.write(key, typedValue(text), { agent });
  print(
    [`${key} is at version ${written.version}.`, ...written.notes.map((note) => NOTE_TEXT[note])],
    written,
  );
};

const rollback: WorkspaceRun = async (
  workspace,
  { print },
  [key = '', version = ''],
  { agent = 'human' },
) => {
  const written = await workspace.rollback(key, wholeNumber(version, 'version'), { agent });
  print([`${key} is at version ${written.version}, with the value of version ${version}.`], written);
};

const remove: WorkspaceRun = async (workspace, { print }, [key = ''], { agent = 'human' }) => {
  if (!(await workspace.delete(key, { agent }))) throw notFound(key);
  print([`${key} is deleted; its history stays.`], { key, deleted: true });
};

const context: WorkspaceRun = async (workspace, { print }, [agent = ''], options) => {
  const configured = await new WorkspaceConfig(workspace.backend, workspace.folder).budgetOf(agent);
  const total = options.budget === undefined ? {} : { total: wholeNumber(options.budget, '--budget', 0) };
  const all = (await workspace.list()).map(({ key }) => key);
  const named = options.required !== undefined || options.optional !== undefined;
  const selected = await selectContext(workspace, {
    agent,
    dependencies: {
      required: keysOf(options.required),
      optional: named ? keysOf(options.optional) : all,
      excluded: keysOf(options.excluded),
    },
    budget: { ...configured, ...total },
  });
  print([selected.text], selected as unknown as JsonObject);
};

const timing: WorkspaceRun = async (workspace, { print }) => {
  const metrics = await workspace.timing();
  const agents = metrics.agentsInvolved.map((name) => {
    const { writes, firstAt, lastAt } = metrics.byAgent[name]!;
    return `  ${excerpt(name, 48)}: ${writes} from ${firstAt} to ${lastAt}`;
  });
  print(
    [`${metrics.totalWrites} writes in ${metrics.durationSeconds} s`, ...agents],
    metrics as unknown as JsonObject,
  );
};

/** Also accepts spaces after commas. */
function keysOf(text = ''): string[] {
  return text
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
}

function entryJson(entry: EntryVersion): JsonObject {
  return { ...entry, value: entry.value ?? null } as JsonObject;
}

function notFound(key: string, version?: string): RekindleError {
  const what = version === undefined ? 'entry' : `value of version ${version} of`;
  return new RekindleError('ENTRY_NOT_FOUND', `There is no ${what} ${JSON.stringify(key)} here.`, {
    details: { key },
  });
}
