/** `rekindle approvals`: calls of tools that wait for a person, and decisions on them. Also for agents that run. */
import type { Command } from 'commander';
import type { JsonValue } from '../core/json.js';
import {
  decideApproval,
  type WaitingApproval,
  waitingApprovals,
} from '../memory/approvals/waiting-approvals.js';
import { commandUser, recordCommand } from './audit-trail.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { excerpt } from './safe-text.js';
import { shellWord } from './shell-word.js';
import { addSubcommand, type SubcommandOption } from './subcommand.js';

interface ApprovalsOptions extends CommonOptions {
  readonly turn?: string;
  readonly reason?: string;
}

type ApprovalsRun = (
  context: CommandContext,
  args: readonly string[],
  options: ApprovalsOptions,
) => Promise<void>;

const DECIDE_OPTIONS: readonly SubcommandOption[] = [
  ['--turn <id>', 'the turn of the call, if calls of several turns have this id'],
  ['--reason <text>', 'why; if the call is denied, the model reads it'],
];
const ARGUMENTS_CHARS = 600;

export function addApprovalsCommand(program: Command): void {
  const parent = program
    .command('approvals')
    .description('calls of tools that wait for a person: list, approve, deny');
  const add = (usage: string, text: string, options: readonly SubcommandOption[], run: ApprovalsRun) =>
    addSubcommand<ApprovalsOptions>(parent, usage, text, options, (args, given) =>
      runCommand(given, async (context) => {
        await run(context, args, given);
        return undefined;
      }),
    );
  add('list [agent]', 'what waits, oldest request first (changes nothing)', [], list);
  add('approve <agent> <call>', 'let a call run', DECIDE_OPTIONS, decide(true));
  add('deny <agent> <call>', 'refuse a call; the model learns it', DECIDE_OPTIONS, decide(false));
}

const list: ApprovalsRun = async ({ storage, print }, [agentId]) => {
  const waiting = await waitingApprovals(storage, agentId);
  const lines = waiting.length === 0 ? ['Nothing waits for an approval.'] : waiting.flatMap(linesOf);
  print(lines, { approvals: waiting as unknown as JsonValue });
};

function decide(approved: boolean): ApprovalsRun {
  return async ({ storage, print }, [agentId = '', callId = ''], { turn, reason }) => {
    const what = approved ? 'approvals approve' : 'approvals deny';
    await recordCommand(storage, { action: 'write', target: `agent ${agentId}`, what });
    const call = await decideApproval(storage, {
      ...{ agentId, callId, approved, by: commandUser() },
      ...(turn === undefined ? {} : { turnId: turn }),
      ...(reason === undefined ? {} : { reason }),
    });
    const done = `${approved ? 'Approved' : 'Denied'}: ${nameOf(call)}.`;
    const next = 'The agent takes the decision where it runs, or at resume() in its next process.';
    print([done, next], call as unknown as JsonValue);
  };
}

function linesOf(waiting: WaitingApproval): string[] {
  const { agentId, callId, requestedAt, expiresAt, decision } = waiting;
  const until = expiresAt === null ? '' : `, until ${moment(expiresAt)}`;
  const made = decision?.approved ? 'approved' : 'denied';
  return [
    `${nameOf(waiting)}`,
    `  arguments: ${excerpt(JSON.stringify(waiting.arguments), ARGUMENTS_CHARS)}`,
    `  waits since ${moment(requestedAt)}${until}`,
    decision
      ? `  ${made} by ${excerpt(decision.by ?? 'somebody', 80)}; the agent has not taken it yet`
      : `  to let it run: rekindle approvals approve ${shellWord(agentId)} ${shellWord(callId)}`,
  ];
}

function nameOf({ agentId, callId, turnId, toolName }: WaitingApproval): string {
  return `${excerpt(toolName, 64)} of agent ${excerpt(agentId, 64)} (call ${excerpt(callId, 64)}, ${excerpt(turnId, 32)})`;
}

function moment(ms: number): string {
  return new Date(ms).toISOString();
}
