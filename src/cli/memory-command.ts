/** `rekindle memory`: lists facts and their sources, and purges what came from one source. */
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import type { Fact } from '../memory/facts/fact.js';
import {
  type FactOwner,
  listFacts,
  listSources,
  planPurge,
  purgeSource,
  type SourcePurge,
} from '../memory/facts/purge-source.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';
import { addSubcommand, type SubcommandOption } from './subcommand.js';

interface MemoryOptions extends CommonOptions {
  readonly agent?: string;
  readonly scope?: string;
  readonly all?: boolean;
  readonly source?: string;
  readonly yes?: boolean;
}

type MemoryRun = (context: CommandContext, owner: FactOwner, options: MemoryOptions) => Promise<void>;

const OWNER: readonly SubcommandOption[] = [
  ['--agent <id>', 'of this agent'],
  ['--scope <name>', 'of this scope, which agents share'],
];
const PURGE_TEXT =
  'purge the facts and summaries from one source, and those derived from them (without --yes: only show them). They no longer appear in memory messages. Their bytes, and the conversation itself, stay in the journals until they are erased';
const LINE_CHARS = 160;

export function addMemoryCommand(program: Command): void {
  const parent = program
    .command('memory')
    .description('the facts of an agent or a scope: list them, show their sources, purge a source');
  const add = (usage: string, text: string, options: readonly SubcommandOption[], run: MemoryRun) =>
    addSubcommand<MemoryOptions>(parent, usage, text, [...OWNER, ...options], (_, given) =>
      runCommand(given, async (context) => {
        await run(context, ownerOf(given), given);
        return undefined;
      }),
    );
  add(
    'list',
    'the current facts, oldest first',
    [['--all', 'include facts that were replaced, forgotten or purged']],
    list,
  );
  add('sources', 'the sources of facts and summaries, with counts', [], sources);
  add(
    'purge',
    PURGE_TEXT,
    [
      ['--source <source>', 'user, agent, import, unknown, tool (every tool), or tool:NAME'],
      ['--yes', 'do it'],
    ],
    purge,
  );
}

const list: MemoryRun = async ({ storage, print }, owner, { all = false }) => {
  const facts = await listFacts(storage, owner, all);
  print(facts.length === 0 ? ['No facts here.'] : facts.map(factLine), { facts });
};

const sources: MemoryRun = async ({ storage, print }, owner) => {
  const found = await listSources(storage, owner);
  const lines = found.map(
    ({ source, facts, summaries }) =>
      `${excerpt(source, 80)}: ${count(facts, 'fact')}, ${summaries === 1 ? '1 summary' : `${summaries} summaries`}`,
  );
  print(lines.length === 0 ? ['No facts or summaries here.'] : lines, { sources: found });
};

const purge: MemoryRun = async ({ storage, print }, owner, { source, yes = false }) => {
  if (source === undefined || source === '') throw usage('--source', 'Give the source with --source.');
  const plan = await (yes ? purgeSource(storage, owner, source) : planPurge(storage, owner, source));
  print([headOf(plan, yes), ...plan.facts.map(factLine), ...plan.summaries.map(summaryLine)], {
    ...plan,
    purged: yes,
  });
};

function headOf({ source, facts, summaries }: SourcePurge, isDone: boolean): string {
  const total = facts.length + summaries.length;
  if (total === 0) return `Nothing here came from ${excerpt(source, 80)}.`;
  const items = count(total, 'item');
  return isDone
    ? `${items} of ${excerpt(source, 80)} no longer appear in memory messages. Their bytes stay in the journals until they are erased.`
    : `${items} of ${excerpt(source, 80)} would be purged. Nothing was changed. To purge them, add --yes.`;
}

function factLine({ id, source, text, pinned, gone, replacedBy }: Fact): string {
  const marks = [
    source,
    pinned ? 'pinned' : '',
    gone ?? '',
    replacedBy === null ? '' : `replaced by ${replacedBy}`,
  ];
  return `${id} (${marks.filter(Boolean).join(', ')}) ${oneLine(text)}`;
}

function summaryLine({ id, summary }: SourcePurge['summaries'][number]): string {
  return `${id} (summary) ${oneLine(summary)}`;
}

function oneLine(text: string): string {
  return excerpt(text.replace(/\s+/g, ' '), LINE_CHARS);
}

function ownerOf({ agent, scope }: MemoryOptions): FactOwner {
  if (agent !== undefined && scope === undefined) return { agentId: agent };
  if (scope !== undefined && agent === undefined) return { scope };
  throw usage('--agent', 'Give an agent with --agent, or a scope with --scope.');
}

function usage(argument: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', problem, { details: { argument } });
}
