/** `rekindle workspace calls`, `prune` and `sessions`: the records of past work. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import { type SessionFilter, SessionManager } from '../workspace/sessions/session-manager.js';
import { ToolCallLog, type ToolCallQuery } from '../workspace/tool-calls/tool-call-log.js';
import type { ToolCallRecord } from '../workspace/tool-calls/tool-call-record.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';
import { addSubcommand } from './subcommand.js';
import { wholeNumber } from './value-text.js';

interface RecordOptions extends CommonOptions {
  readonly tool?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly status?: string;
  readonly text?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: string;
  readonly calls?: string;
  readonly days?: string;
}

export function addWorkspaceRecords(parent: Command): void {
  const add = (
    usage: string,
    text: string,
    options: readonly (readonly [string, string])[],
    run: RecordRun,
  ) =>
    addSubcommand<RecordOptions>(parent, usage, text, options, (_, given) =>
      runCommand(given, async (context) => {
        await run(context, given);
        return undefined;
      }),
    );
  const agent = ['--agent <name>', 'of this agent'] as const;
  const limit = ['--limit <n>', 'default 10'] as const;
  add(
    'calls',
    'tool calls, newest first',
    [
      ['--tool <name>', 'of this tool'],
      agent,
      ['--session <id>', 'of this session'],
      ['--status <ok|error>', 'how they ended'],
      ['--text <text>', 'with this text in their input, output or error'],
      ['--since <time>', 'from this time on (ISO 8601)'],
      ['--until <time>', 'up to this time (ISO 8601)'],
      limit,
    ],
    calls,
  );
  add(
    'prune',
    'remove the oldest calls from the log',
    [
      ['--calls <n>', 'minimum of calls to keep'],
      ['--days <n>', 'days to keep, including today'],
    ],
    prune,
  );
  add(
    'sessions',
    'the sessions, newest first',
    [['--status <active|ended>', 'only these'], agent, limit],
    sessions,
  );
}

type RecordRun = (context: CommandContext, options: RecordOptions) => Promise<void>;

const calls: RecordRun = async ({ storage, print }, options) => {
  const log = new ToolCallLog(storage);
  const query: ToolCallQuery = {
    limit: wholeNumber(options.limit ?? '10', '--limit'),
    ...(options.tool === undefined ? {} : { tool: options.tool }),
    ...(options.agent === undefined ? {} : { agent: options.agent }),
    ...(options.session === undefined ? {} : { session: options.session }),
    ...(options.text === undefined ? {} : { text: options.text }),
    ...(options.status === undefined ? {} : { status: oneOf(options.status, ['ok', 'error'], '--status') }),
    ...(options.since === undefined ? {} : { fromMs: timeOf(options.since, '--since') }),
    ...(options.until === undefined ? {} : { toMs: timeOf(options.until, '--until') }),
  };
  const found = await log.search(query);
  print(found.length === 0 ? ['No calls found.'] : found.flatMap(callLines), {
    calls: found as unknown as JsonValue,
  });
  await log.close();
};

function callLines(call: ToolCallRecord): string[] {
  const { tool, agent, startedAt, durationMs, input, inputRef, output, outputRef, error } = call;
  const end =
    error === null
      ? `=> ${outputRef ?? excerpt(JSON.stringify(output), 160)}`
      : `failed: ${excerpt(error, 160)}`;
  return [
    `${startedAt}  ${excerpt(agent, 48)}  ${excerpt(tool, 64)}  ${durationMs} ms`,
    `  ${inputRef ?? excerpt(JSON.stringify(input), 160)}`,
    `  ${end}`,
  ];
}

const prune: RecordRun = async ({ storage, print }, options) => {
  if (options.calls === undefined && options.days === undefined)
    throw new RekindleError('INVALID_ARGUMENT', 'Give what to keep: --calls, --days, or both.', {
      details: { argument: '--calls' },
    });
  const log = new ToolCallLog(storage);
  const report = await log.prune({
    ...(options.calls === undefined ? {} : { callsMax: wholeNumber(options.calls, '--calls', 0) }),
    ...(options.days === undefined ? {} : { daysMax: wholeNumber(options.days, '--days', 0) }),
  });
  await log.close();
  const { callsRemoved, callsKept, valuesRemoved, bytesRemoved, chunks } = report;
  const values =
    valuesRemoved === 0
      ? ''
      : ` and ${count(valuesRemoved, 'stored value')} (${count(bytesRemoved, 'byte')})`;
  const from = chunks.length === 0 ? '' : `, of ${chunks.join(', ')}`;
  print(
    [`Removed ${count(callsRemoved, 'call')}${values}${from}; ${callsKept} kept.`],
    report as unknown as JsonObject,
  );
};

const sessions: RecordRun = async ({ storage, print }, options) => {
  const manager = new SessionManager(storage);
  const filter: SessionFilter = {
    limit: wholeNumber(options.limit ?? '10', '--limit'),
    ...(options.agent === undefined ? {} : { agent: options.agent }),
    ...(options.status === undefined
      ? {}
      : { status: oneOf(options.status, ['active', 'ended'], '--status') }),
  };
  const [found, current] = [await manager.list(filter), await manager.current()];
  await manager.close();
  const table = new Table({
    head: ['session', 'title', 'status', 'last active', 'agents'],
    style: { head: [], border: [] },
  });
  for (const { id, title, status, lastActiveAt, agents } of found) {
    const names = agents.map(({ name, agentId }) => `${name} (${agentId})`).join(', ');
    table.push([
      id === current?.id ? `${id} *` : id,
      excerpt(title, 40),
      status,
      lastActiveAt,
      excerpt(names, 120),
    ]);
  }
  print(found.length === 0 ? ['No sessions here.'] : [table.toString()], {
    current: current?.id ?? null,
    sessions: found as unknown as JsonValue,
  });
};

function oneOf<const Name extends string>(given: string, names: readonly Name[], argument: string): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw new RekindleError('INVALID_ARGUMENT', `${argument} must be ${names.join(' or ')}.`, {
    details: { argument, given },
  });
}

function timeOf(given: string, argument: string): number {
  const ms = Date.parse(given);
  if (!Number.isNaN(ms)) return ms;
  throw new RekindleError('INVALID_ARGUMENT', `${argument} must be a time such as 2026-03-01T10:00:00Z.`, {
    details: { argument, given },
  });
}
