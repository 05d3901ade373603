/** `rekindle fork` and `rekindle history`: a new agent from a turn of another one, and the turns to choose from. */
import type { Command } from 'commander';
import { forkAgent } from '../agent/forks/fork-agent.js';
import { RekindleError } from '../core/errors.js';
import { type AgentHistory, agentHistory, type TurnSummary } from '../memory/lineage/agent-history.js';
import type { AgentMoment } from '../memory/lineage/moment.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';
import { wholeNumber } from './value-text.js';

interface ForkCommandOptions extends CommonOptions {
  readonly at?: string;
  readonly atRecord?: string;
  readonly as?: string;
}

interface HistoryCommandOptions extends CommonOptions {
  readonly limit: string;
  readonly before?: string;
}

const TURNS_MAX = 1_000;
const LINE_CHARS = 100;

export function addForkCommand(program: Command): void {
  withCommonOptions(
    program
      .command('fork <agent>')
      .description(
        'make a new agent with the context, facts and state that an agent had after one of its turns',
      )
      .option('--at <turn>', 'the turn, as `rekindle history` shows it (default: now)')
      .option('--at-record <number>', 'in place of --at: a record, to leave between two steps of a turn')
      .option('--as <id>', 'the id of the new agent (default: a generated one)'),
  ).action((agentId: string, options: ForkCommandOptions) =>
    runCommand(options, async ({ storage, print }) => {
      const at = momentIn(options);
      const fork = await forkAgent(storage, agentId, {
        ...(at ? { at } : {}),
        ...(options.as === undefined ? {} : { as: options.as }),
      });
      const { forkedFrom: from, messages } = fork;
      const where = `${excerpt(from.agentId, 80)}, after turn ${from.turn} (record ${from.record})`;
      print([`${excerpt(fork.agentId, 80)} is a fork of ${where}: ${count(messages, 'message')}.`], fork);
      return undefined;
    }),
  );
}

/** @throws INVALID_ARGUMENT */
function momentIn({ at, atRecord }: ForkCommandOptions): AgentMoment | null {
  if (at !== undefined && atRecord !== undefined)
    throw new RekindleError('INVALID_ARGUMENT', 'Give --at or --at-record, not both.', {
      details: { argument: '--at' },
    });
  if (at !== undefined) return { turn: wholeNumber(at, '--at', 1) };
  return atRecord === undefined ? null : { record: wholeNumber(atRecord, '--at-record', 1) };
}

export function addHistoryCommand(program: Command): void {
  withCommonOptions(
    program
      .command('history <agent>')
      .description('list the turns of an agent, newest first, and where it was forked (changes nothing)')
      .option('--limit <n>', `turns, at most ${TURNS_MAX}`, '20')
      .option('--before <turn>', 'only turns before this one'),
  ).action((agentId: string, options: HistoryCommandOptions) =>
    runCommand(options, async ({ storage, print }) => {
      const history = await agentHistory(storage, agentId, {
        limit: wholeNumber(options.limit, '--limit', 1, TURNS_MAX),
        ...(options.before === undefined ? {} : { before: wholeNumber(options.before, '--before', 1) }),
      });
      print(linesOf(history), history);
      return undefined;
    }),
  );
}

function linesOf({ agentId, forkedFrom, forks, turns, nextBefore }: AgentHistory): string[] {
  const from = forkedFrom
    ? [`Forked from ${excerpt(forkedFrom.agentId, 80)} after turn ${forkedFrom.turn}.`]
    : [];
  return [
    ...from,
    ...(forks.length > 0 ? [`Forks: ${forks.map((fork) => excerpt(fork, 48)).join(', ')}`] : []),
    ...(turns.length === 0 ? ['No turn was recorded.'] : turns.flatMap((turn) => turnLines(turn, agentId))),
    ...(nextBefore === null ? [] : [`There is more: --before ${nextBefore}`]),
  ];
}

function turnLines(turn: TurnSummary, agentId: string): string[] {
  const head = [
    `turn ${turn.turn}`,
    turn.startedAt ?? '-',
    `records ${turn.firstRecord}-${turn.lastRecord}`,
    ...(turn.calls > 0 ? [count(turn.calls, 'call')] : []),
    ...(turn.agentId === agentId ? [] : [`in ${excerpt(turn.agentId, 48)}`]),
  ];
  return [
    head.join('  '),
    ...(turn.request === null ? [] : [`  user: ${excerpt(turn.request, LINE_CHARS)}`]),
    ...(turn.answer === null ? [] : [`  answer: ${excerpt(turn.answer, LINE_CHARS)}`]),
  ];
}
