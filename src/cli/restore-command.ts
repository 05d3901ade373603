/** `rekindle restore` and `rekindle inspect`: show a dry restore. They change nothing and take no lease. */
import type { Command } from 'commander';
import { type QueuedInput, waitingInputs } from '../agent/inputs/input-table.js';
import { RekindleError } from '../core/errors.js';
import { O200kTokenCounter } from '../memory/compaction/token-counter.js';
import { requestParts } from '../memory/fit/request-parts.js';
import { summarizeAgent } from '../memory/maintenance/agent-summary.js';
import { restoreDry } from '../memory/maintenance/restore-dry.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../messages/message.js';
import { messageToJson } from '../messages/message-serializer.js';
import { TARGETS } from '../messages/projections/targets.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { type FromCheckpointOptions, withFromCheckpoint } from './from-checkpoint-options.js';
import { count, describeReport } from './report-text.js';
import { excerpt } from './safe-text.js';

interface ContextOptions extends CommonOptions, FromCheckpointOptions {
  readonly full?: boolean;
  readonly for?: string;
  readonly model?: string;
}

const LINE_CHARS = 100;
const BAR_CHARS = 30;

export function addRestoreCommand(program: Command): void {
  withCommonOptions(
    withFromCheckpoint(
      program
        .command('restore <agent>')
        .description(
          'show what a restore would give: the report and the context (changes nothing, except with --from-checkpoint)',
        )
        .option('--full', 'show messages in full')
        .option('--for <target>', `show the request that would be sent: ${TARGETS.join(', ')}`)
        .option('--model <model>', 'with --for: the model, which gets its own signed reasoning'),
    ),
  ).action((agentId: string, options: ContextOptions) =>
    runCommand(options, async (context) => {
      const { storage, print } = context;
      if (options.model !== undefined && options.for === undefined) {
        throw new RekindleError('INVALID_ARGUMENT', '--model needs --for, because it applies to a request.', {
          details: { argument: '--model' },
        });
      }
      if (options.for !== undefined && options.fromCheckpoint !== undefined)
        throw new RekindleError(
          'INVALID_ARGUMENT',
          '--from-checkpoint begins an agent. Use --for in a second command.',
          {
            details: { argument: '--for' },
          },
        );
      if (options.for !== undefined)
        return (await import('./restore-request.js')).showRequest(
          storage,
          agentId,
          options.for,
          options.model,
          print,
        );
      const begun =
        options.fromCheckpoint === undefined
          ? null
          : await (await import('./branch-agent.js')).branchAgent(
              context,
              options,
              agentId,
              options.fromCheckpoint,
            );
      const { report, messages } = await restoreDry(storage, agentId, (_, list, report) => ({
        report: begun ?? report,
        messages: list,
      }));
      const lines = [
        ...(begun ? [`${agentId} begins from ${options.fromCheckpoint}.`] : []),
        ...describeReport(report),
        '',
        ...messages.map((message, index) => messageLine(message, index, options.full ?? false)),
      ];
      print(lines, { report, messages: messages.map(messageToJson) });
      return undefined;
    }),
  );
}

export function addInspectCommand(program: Command): void {
  withCommonOptions(
    program
      .command('inspect <agent>')
      .description('show an agent: status, frontier, tokens by role, open ends (changes nothing)'),
  ).action((agentId: string, options: CommonOptions) =>
    runCommand(options, async ({ storage, print }) => {
      const { report, messages, inputs } = await restoreDry(
        storage,
        agentId,
        async (memory, list, report) => ({
          report,
          messages: list,
          inputs: await waitingInputs(memory.store),
        }),
      );
      const summary = await summarizeAgent(storage, agentId);
      const counter = new O200kTokenCounter();
      const tokens = await tokensByRole(messages, counter);
      const parts = await requestParts(messages, 0, counter);
      const total = Object.values(tokens).reduce((sum, value) => sum + value, 0);
      const lines = [
        `Agent ${excerpt(agentId, 80)}: ${summary?.status ?? 'unknown'}, cache ${summary?.snapshot ?? 'missing'}, ${count(summary?.traces ?? 0, 'trace')}.`,
        `Epoch ${report.epochId}; ${count(messages.length, 'message')}, about ${count(total, 'token')}:`,
        ...partLines({ ...parts }, total),
        ...describeReport(report).slice(1),
        ...(inputs.length > 0 ? [`${count(inputs.length, 'input')} in the queue:`] : []),
        ...inputs.map(
          ({ id, mode, message }) => `  ${excerpt(`${mode} ${id}: ${textOf(message)}`, LINE_CHARS)}`,
        ),
      ];
      print(lines, { summary, tokens: { ...tokens, total }, parts, report, inputs: inputs.map(inputToJson) });
      return undefined;
    }),
  );
}

function inputToJson({ id, mode, message, at }: QueuedInput) {
  return { id, mode, message: messageToJson(message), at };
}

/** The parts of the context: a bar for each part with tokens, longest first. */
function partLines(parts: Readonly<Record<string, number>>, total: number): string[] {
  const shown = Object.entries(parts).filter(([, tokens]) => tokens > 0);
  return shown
    .sort(([, a], [, b]) => b - a)
    .map(([part, tokens]) => {
      const share = tokens / Math.max(1, total);
      const bar = '#'.repeat(Math.max(1, Math.round(share * BAR_CHARS))).padEnd(BAR_CHARS);
      return `  ${part.padEnd(9)} ${bar} ${String(tokens).padStart(8)}  ${Math.round(share * 100)} %`;
    });
}

async function tokensByRole(
  messages: readonly Message[],
  counter: O200kTokenCounter,
): Promise<Record<string, number>> {
  const tokens: Record<string, number> = {};
  for (const message of messages)
    tokens[message.role] = (tokens[message.role] ?? 0) + (await counter.countMessages([message]));
  return tokens;
}

function messageLine(message: Message, index: number, full: boolean): string {
  const result = toolResultOf(message);
  const said = result
    ? `${result.toolName}: ${result.toolError ?? JSON.stringify(result.toolResult)}`
    : textOf(message);
  const calls = toolCallsOf(message).map((call) => `[calls ${call.name} ${JSON.stringify(call.arguments)}]`);
  const marks = [message.kind, message.synthetic ? 'synthetic' : undefined, message.status].filter(
    (mark) => mark !== undefined,
  );
  const body = [said, ...calls].filter((part) => part !== '').join(' ');
  const head = `${String(index).padStart(4)} ${message.role}${marks.length > 0 ? ` (${marks.join(', ')})` : ''}`;
  return `${head.padEnd(18)} ${full ? body : excerpt(body, LINE_CHARS)}`;
}
