/** `rekindle chat`: talk to an agent with memory. Ctrl-C during an answer cancels it and keeps its text. */
import { createInterface, type Interface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { Agent } from '../agent/agent.js';
import { openAgent } from '../agent/factory/agent-factory.js';
import { agentExists } from '../memory/open-memory.js';
import {
  type CommandContext,
  type CommonOptions,
  errorToJson,
  jsonLine,
  runCommand,
  showError,
  withCommonOptions,
} from './command-context.js';
import { type FromCheckpointOptions, withFromCheckpoint } from './from-checkpoint-options.js';
import { modelFor } from './model-option.js';
import { describeReport } from './report-text.js';
import { safeText } from './safe-text.js';

interface ChatOptions extends CommonOptions, FromCheckpointOptions {
  readonly agent: string;
  readonly model?: string;
  readonly system?: string;
}

const DEFAULT_SYSTEM = 'You are a helpful assistant.';
const HELP =
  'Ctrl-C stops an answer; Ctrl-D or /exit ends; /resume continues an interrupted turn; /report shows the restore report.';

export function addChatCommand(program: Command): void {
  withCommonOptions(
    withFromCheckpoint(
      program
        .command('chat')
        .description('talk to an agent, which is restored if it exists')
        .option('-a, --agent <id>', 'agent id', 'chat')
        .option(
          '-m, --model <provider:name>',
          'a Vercel AI SDK model, such as openai:gpt-5-mini (default: the offline model)',
        )
        .option('-s, --system <text>', 'system prompt'),
    ),
  ).action((options: ChatOptions) => runCommand(options, (context) => chat(context, options)));
}

async function chat(context: CommandContext, options: ChatOptions): Promise<undefined> {
  const agent = await agentFor(context, options);
  const terminal = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: process.stdin.isTTY,
  });
  const session = new ChatSession(agent, terminal, context.json);
  try {
    greet(agent, options, context.json);
    await session.run();
  } finally {
    terminal.close();
    await agent.stop();
  }
  return undefined;
}

async function agentFor(context: CommandContext, options: ChatOptions): Promise<Agent> {
  const model = await modelFor(options.model);
  if (options.fromCheckpoint !== undefined)
    await (await import('./branch-agent.js')).branchAgent(
      context,
      options,
      options.agent,
      options.fromCheckpoint,
    );
  const exists = await agentExists(context.storage, options.agent);
  const system = options.system ?? (exists ? undefined : DEFAULT_SYSTEM); // an agent keeps its prompt
  const prompt = system === undefined ? {} : { systemPrompt: system };
  return openAgent(options.agent, { model, storage: context.storage, ...prompt });
}

function greet(agent: Agent, options: ChatOptions, json: boolean): void {
  const report = agent.restoreReport;
  if (json) {
    process.stdout.write(jsonLine({ type: 'started', agentId: agent.agentId, report }));
    return;
  }
  const lines = report ? describeReport(report) : [`A new agent, ${agent.agentId}.`];
  if (options.model === undefined) lines.push('No --model was given: the offline model answers.');
  if (report && report.frontier.kind !== 'idle')
    lines.push('The last turn was interrupted. /resume continues it.');
  process.stdout.write(`${[...lines, HELP].map(safeText).join('\n')}\n`);
}

class ChatSession {
  readonly #agent: Agent;
  readonly #terminal: Interface;
  readonly #json: boolean;
  #answering: AbortController | null = null;

  constructor(agent: Agent, terminal: Interface, json: boolean) {
    this.#agent = agent;
    this.#terminal = terminal;
    this.#json = json;
  }

  async run(): Promise<void> {
    const onInterrupt = () => {
      if (this.#answering) this.#answering.abort(new Error('Ctrl-C'));
      else this.#terminal.close();
    };
    this.#terminal.on('SIGINT', onInterrupt);
    process.on('SIGINT', onInterrupt);
    this.#agent.events.on('text_delta', ({ delta }) => this.#show({ type: 'text', delta }, safeText(delta)));
    try {
      this.#prompt();
      for await (const line of this.#terminal) {
        if (line.trim() === '/exit') break;
        if (line.trim() !== '') await this.#handle(line);
        this.#prompt();
      }
    } finally {
      process.off('SIGINT', onInterrupt);
    }
  }

  async #handle(line: string): Promise<void> {
    if (line.trim() === '/report') {
      const report = this.#agent.restoreReport;
      const text = report ? describeReport(report).map(safeText).join('\n') : 'This agent is new.';
      this.#show({ type: 'report', report }, `${text}\n`);
      return;
    }
    this.#answering = new AbortController();
    const { signal } = this.#answering;
    try {
      const resume = line.trim() === '/resume';
      const result = resume ? await this.#agent.resume({ signal }) : await this.#agent.send(line, { signal });
      this.#show(
        { type: 'turn_ended', ...result },
        result.status === 'aborted' ? ' (stopped; the text so far is kept)\n' : '\n',
      );
    } catch (thrown) {
      // The conversation continues.
      if (this.#json) this.#show({ type: 'error', error: errorToJson(thrown) }, '');
      else showError(thrown, false);
    } finally {
      this.#answering = null;
    }
  }

  #prompt(): void {
    if (this.#json || !process.stdin.isTTY) return;
    this.#terminal.setPrompt('> ');
    this.#terminal.prompt();
  }

  #show(event: object, text: string): void {
    process.stdout.write(this.#json ? jsonLine(event) : text);
  }
}
