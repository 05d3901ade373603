/** `rekindle demo`: kills an agent during a tool call and restores it. Offline. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Argument, type Command } from 'commander';
import { restoreAgent } from '../agent/factory/agent-factory.js';
import { ScriptedModel } from '../agent/model/scripted-model.js';
import { RekindleError } from '../core/errors.js';
import type { RestoreReport } from '../memory/restore/restore-report.js';
import type { CommandContext } from './command-context.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import {
  DEMO_AGENT_ID,
  DEMO_PROMPT,
  demoTools,
  outboxFile,
  SECOND_LIFE,
  TOOL_IS_RUNNING,
} from './demo-agent.js';
import { EXIT } from './exit-codes.js';
import { describeReport } from './report-text.js';
import { shownPath } from './shown-path.js';
import { siblingScript } from './sibling-script.js';

interface DemoResult {
  readonly killedPid: number;
  readonly report: RestoreReport;
  readonly answers: readonly string[];
  readonly invoicesSent: number;
  readonly dir: string;
}

export function addDemoCommand(program: Command): void {
  withCommonOptions(
    program
      .command('demo')
      .description('offline: kill an agent during a tool call, restore it, finish its turn')
      .addArgument(
        new Argument('[what]', 'shared: five processes update one state, two are killed').choices(['shared']),
      ),
  ).action((what: 'shared' | undefined, options: CommonOptions) =>
    runCommand(options, async (context) => {
      const dir = await freshFolder(options.dir ?? (what ? `rekindle-demo-${what}` : 'rekindle-demo'));
      const say = (line = '') => {
        if (!context.json) process.stdout.write(`${line}\n`);
      };
      if (what === 'shared') return (await import('./demo-shared.js')).runSharedDemo(context, dir, say);
      const result = await runDemo(dir, say);
      return conclude(context, result, say);
    }),
  );
}

async function runDemo(dir: string, say: (line?: string) => void): Promise<DemoResult> {
  say('1. An agent works in a process of its own.');
  const killedPid = await liveUntilKilled(dir, say);
  say();
  say('3. A new process restores it. No tool is run, no model is called.');
  const agent = restoreAgent(DEMO_AGENT_ID, {
    systemPrompt: DEMO_PROMPT,
    model: new ScriptedModel(SECOND_LIFE),
    tools: demoTools(dir, async () => {}),
    memoryDir: dir,
  });
  await agent.start();
  const report = agent.restoreReport!;
  for (const line of describeReport(report)) say(`   ${line}`);
  say();
  say('4. The interrupted turn goes on.');
  agent.events.on('tool_started', ({ toolName }) => say(`   agent calls ${toolName}`));
  const first = await agent.resume();
  say(`   agent: ${first.text}`);
  say();
  say('5. And it remembers what it was told before the crash.');
  say('   you:   When does order 4711 ship?');
  const second = await agent.send('When does order 4711 ship?');
  say(`   agent: ${second.text}`);
  await agent.stop();
  const outbox = (await readFile(outboxFile(dir), 'utf8')).trim().split('\n');
  return { killedPid, report, answers: [first.text, second.text], invoicesSent: outbox.length, dir };
}

function conclude(context: CommandContext, result: DemoResult, say: (line?: string) => void): number {
  const shown = shownPath(result.dir);
  say();
  say(`Invoices sent: ${result.invoicesSent}. Everything is in ${shown}; look at it with:`);
  say(
    `   npx rekindle restore ${DEMO_AGENT_ID} --dir ${shown}     (in a clone: npm run rekindle -- restore ...)`,
  );
  if (context.json) context.print([], result);
  return result.invoicesSent === 1 ? EXIT.ok : EXIT.problem;
}

/** Starts the child, waits until its tool is running, and kills it. Returns its pid. */
async function liveUntilKilled(dir: string, say: (line?: string) => void): Promise<number> {
  const child = spawn(
    process.execPath,
    [...process.execArgv, siblingScript(import.meta.url, 'demo-agent'), dir],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  try {
    await untilToolRuns(child, say);
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
  say();
  say(
    `2. Process ${child.pid} is killed with SIGKILL while the tool runs. The invoice is out, its result is not recorded.`,
  );
  return child.pid ?? 0;
}

async function untilToolRuns(child: ChildProcess, say: (line?: string) => void): Promise<void> {
  say('   you:   Please note: order 4711 ships on Friday.');
  for await (const line of createInterface({ input: child.stdout! })) {
    if (line === TOOL_IS_RUNNING) return;
    say(`   ${line}`);
    if (line.startsWith('agent:')) say('   you:   Send the invoice for order 4711.');
  }
  throw new RekindleError('AGENT_STATE', 'The demo agent ended before its tool ran; its output is above.', {
    details: { exitCode: child.exitCode },
  });
}

/**
 * The folder itself if it is empty or new, else a numbered one next to it, because a demo must not overwrite
 * anything.
 */
async function freshFolder(wanted: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const folder = path.resolve(number === 1 ? wanted : `${wanted}-${number}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if ((await readdir(folder)).length === 0) return folder;
  }
}
