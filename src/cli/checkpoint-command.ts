/** `rekindle checkpoint`: saves contexts and whole agents, to go back to. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { checkpointAgent } from '../agent/checkpoints/checkpoint-agent.js';
import type { CheckpointMetadata } from '../checkpoints/checkpoint-metadata.js';
import type { LoadParams, SaveResult } from '../checkpoints/checkpoint-params.js';
import type { CheckpointService } from '../checkpoints/checkpoint-service.js';
import type { CheckpointStatus } from '../checkpoints/session/checkpoint-record.js';
import { RekindleError } from '../core/errors.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import { quoteLargeIntegers } from '../core/json-digits.js';
import { checkpointPlace, checkpointsFor, earlierPlace, lookedUp } from './checkpoint-place.js';
import { addCheckpointUpkeep } from './checkpoint-upkeep.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { readGiven } from './given-file.js';
import { writeNewFile } from './new-file.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';
import { addSubcommand, type SubcommandOption } from './subcommand.js';
import { changeLine, readStdin, wholeNumber } from './value-text.js';

interface CheckpointOptions extends CommonOptions {
  readonly agent?: string;
  readonly session?: string;
  readonly workflow?: string;
  readonly name?: string;
  readonly tag?: string | readonly string[];
  readonly force?: boolean;
  readonly critical?: boolean;
  /** False with `--no-state`. */
  readonly state?: boolean;
  readonly out?: string;
  readonly budget?: string;
  readonly after?: string;
  readonly before?: string;
  readonly status?: string;
  readonly undo?: boolean;
  readonly limit?: string;
  readonly offset?: string;
}

type CheckpointRun = (
  service: CheckpointService,
  context: CommandContext,
  args: readonly string[],
  options: CheckpointOptions,
) => Promise<void>;

export function addCheckpointCommand(program: Command): void {
  const parent = program
    .command('checkpoint')
    .description('saved contexts and whole agents: save, load, list, compare, maintain');
  const add = (usage: string, text: string, options: readonly SubcommandOption[], run: CheckpointRun) =>
    addSubcommand<CheckpointOptions>(parent, usage, text, options, (args, given) =>
      runCommand(given, async (context) => {
        const service = checkpointsFor(context);
        try {
          await lookedUp(given, () => run(service, context, args, given));
          return undefined;
        } finally {
          await service.close();
        }
      }),
    );
  add(
    'save [file]',
    'save a context: a JSON file, standard input, or with --agent a whole agent',
    [
      ['--agent <id>', 'save this agent: its working context, memory and state'],
      ['--session <id>', 'the session (default: the agent, else derived from the workflow and the context)'],
      ['--workflow <id>', 'the workflow'],
      ['--name <text>', 'a name for it'],
      ['--tag <tag>', 'a tag; may be given several times', 'repeated'],
      ['--no-state', 'with --agent: without its durable state'],
      ['--critical', 'retention never removes it'],
      ['--force', 'save even if nothing changed'],
    ],
    save,
  );
  add(
    'load <checkpoint>',
    'the context exactly as saved: of a checkpoint, or of the newest one of a session',
    [
      ['-o, --out <file>', 'write to a new file'],
      ['--budget <tokens>', 'only the part for a model within this many tokens'],
    ],
    load,
  );
  add(
    'list [session]',
    'the checkpoints of one session or of all, newest first',
    [
      ['--tag <tag>', 'with this tag'],
      ['--agent <id>', 'of this agent'],
      ['--status <status>', 'active, archived, corrupt or all (default: all except archived ones)'],
      ['--after <time>', 'saved at this time or later'],
      ['--before <time>', 'saved before this time'],
      ['--limit <n>', 'default 20'],
      ['--offset <n>', 'skip this many'],
    ],
    list,
  );
  add('diff <from> <to>', 'the difference between two checkpoints', [], diff);
  add(
    'mark <what> [key]',
    'mark a context key of a session, so that no view drops it; or a checkpoint, so that retention never removes it',
    [],
    mark,
  );
  add(
    'archive <checkpoint>',
    'put one checkpoint aside: lists leave it out, it can still be loaded by its id',
    [['--undo', 'take it back']],
    archive,
  );
  add('delete <checkpoint>', 'delete one checkpoint', [], remove);
  addCheckpointUpkeep(parent);
}

const save: CheckpointRun = async (service, context, [file], options) => {
  const { session, workflow, name, critical = false, force = false } = options;
  const tags = tagsOf(options);
  const params = {
    ...(session === undefined ? {} : { sessionId: session }),
    ...(workflow === undefined ? {} : { workflowId: workflow }),
    metadata: { ...(name === undefined ? {} : { name }), ...(tags.length === 0 ? {} : { tags }) },
    critical,
    force,
  };
  if (options.agent !== undefined && file !== undefined)
    throw usage('--agent saves an agent, a file is a context. Give only one of them.');
  const saved =
    options.agent === undefined
      ? await service.save({ ...params, context: await contextFrom(file) })
      : await checkpointAgent(service, context.storage, options.agent, {
          ...params,
          ...(options.state === false ? { stateFolder: null } : {}),
        });
  context.print(describeSaved(saved, checkpointPlace(context)), saved);
};

function describeSaved({ status, metadata, removed, warnings }: SaveResult, place: string): string[] {
  const { id, contextSizeBytes, storedBytes } = metadata;
  const line =
    status === 'SAVED'
      ? `Saved ${id}: ${count(contextSizeBytes, 'byte')} of JSON; ${count(storedBytes, 'byte')} added to ${place}.`
      : `Nothing was saved: the context is the same as in ${id}.`;
  const gone =
    removed.length === 0 ? [] : [`Deleted to make room: ${removed.map((old) => old.id).join(', ')}.`];
  return [line, ...gone, ...warnings];
}

const load: CheckpointRun = async (service, { print, note }, [what = ''], { out, budget }) => {
  const params = placeOf(what);
  const view =
    budget === undefined ? null : await service.view({ ...params, budget: wholeNumber(budget, '--budget') });
  const context = view?.context ?? (await service.load(params)).context;
  const text = JSON.stringify(context, null, 2);
  for (const { key, shown } of view?.keys ?? []) if (shown !== 'whole') note(`${key} is ${shown}.`);
  if (out === undefined) return print([text], view ?? context);
  await writeNewFile(out, [`${text}\n`]);
  print([`Written to ${out}.`], { written: out });
};

const list: CheckpointRun = async (service, context, [session], options) => {
  const { agent, status, after, before, limit = '20', offset = '0' } = options;
  const [tag] = tagsOf(options);
  const page = await service.list({
    ...(session === undefined ? {} : { sessionId: session }),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(tag === undefined ? {} : { tag }),
    ...(status === undefined ? {} : { status: status as CheckpointStatus | 'all' }), // the service checks it
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
    limit: wholeNumber(limit, '--limit'),
    offset: wholeNumber(offset, '--offset', 0),
  });
  const { checkpoints, total } = page;
  const isAll = [session, agent, tag, status, after, before].every((filter) => filter === undefined);
  const earlier = checkpoints.length === 0 ? earlierPlace(options) : null;
  const none = `There are no ${isAll ? '' : 'such '}checkpoints in ${checkpointPlace(context)}.${earlier ? ` ${earlier}` : ''}`;
  const bad = page.problems.map(({ sessionId, message }) => `Left out: ${sessionId}: ${message}`);
  const more =
    total > checkpoints.length
      ? [`Shown: ${checkpoints.length} of ${total}. For more, use --limit and --offset.`]
      : [];
  context.print([...(checkpoints.length === 0 ? [none] : [tableOf(checkpoints), ...more]), ...bad], page);
};

function tableOf(checkpoints: readonly CheckpointMetadata[]): string {
  const table = new Table({
    head: ['checkpoint', 'saved', 'name', 'tags', 'context', 'stored', ''],
    style: { head: [], border: [] },
  });
  for (const {
    id,
    createdAt,
    name,
    tags,
    contextSizeBytes,
    storedBytes,
    status,
    critical,
    encrypted,
  } of checkpoints) {
    const marks = [
      status === 'active' ? '' : status,
      critical ? 'critical' : '',
      encrypted ? 'encrypted' : '',
    ]
      .filter(Boolean)
      .join(', ');
    table.push([
      excerpt(id, 60),
      createdAt,
      excerpt(name ?? '', 32),
      excerpt(tags.join(', '), 32),
      contextSizeBytes,
      storedBytes,
      marks,
    ]);
  }
  return table.toString();
}

const diff: CheckpointRun = async (service, { print }, [from = '', to = '']) => {
  const changes = await service.diff(from, to);
  print(changes.length === 0 ? ['No difference.'] : changes.map(changeLine), {
    from,
    to,
    changes: changes as unknown as JsonValue,
  });
};

const mark: CheckpointRun = async (service, { print }, [what = '', key]) => {
  if (key === undefined && !/@\d+$/.test(what))
    throw usage('Give a session and a key of its context, or a checkpoint such as session@3.');
  if (key === undefined) {
    await service.markCritical({ checkpointId: what });
    return print([`Retention will never remove ${what}.`], { checkpointId: what, critical: true });
  }
  await service.markCritical({ sessionId: what, contextKey: key });
  print([`No view of ${what} will drop ${key}.`], { sessionId: what, contextKey: key });
};

const archive: CheckpointRun = async (service, { print }, [id = ''], { undo = false }) => {
  await (undo ? service.unarchive(id) : service.archive(id));
  print(
    [
      undo
        ? `${id} is in the lists again.`
        : `Archived ${id}. \`checkpoint list --status archived\` shows it.`,
    ],
    {
      id,
      archived: !undo,
    },
  );
};

const remove: CheckpointRun = async (service, { print }, [id = '']) => {
  await service.delete(id);
  print([`Deleted ${id}. A prune removes its data, unless other checkpoints use it.`], { id });
};

/** A checkpoint id has a number after an `@`; anything else is a session. */
function placeOf(what: string): LoadParams {
  return /@\d+$/.test(what) ? { checkpointId: what } : { sessionId: what };
}

function tagsOf({ tag }: CheckpointOptions): readonly string[] {
  return tag === undefined ? [] : typeof tag === 'string' ? [tag] : tag;
}

/** @throws INVALID_ARGUMENT if it is not JSON, or has a number that would be rounded */
async function contextFrom(file: string | undefined): Promise<JsonObject> {
  if (file === undefined && process.stdin.isTTY)
    throw usage('Give a file with a JSON object, pipe one in, or use --agent.');
  const text = file === undefined ? await readStdin() : Buffer.from(await readGiven(file)).toString('utf8');
  const where = file ?? 'standard input';
  try {
    const value = JSON.parse(text.replace(/^\ufeff/, '')) as JsonObject;
    if (quoteLargeIntegers(text) === text) return value;
  } catch (cause) {
    throw usage(`${where} is not JSON.`, cause);
  }
  throw usage(
    `${where} has a number with too many digits (above 2^53), which would be rounded. Write it as text.`,
  );
}

function usage(problem: string, cause?: unknown): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', problem, { details: { argument: 'file' }, cause });
}
