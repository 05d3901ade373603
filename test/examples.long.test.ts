/** The examples run as their head comments say, each in a folder of its own. */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAiChatServer } from './support/openai-chat-server.js';
import { newSchemaName, testPostgres } from './support/postgres-schema.js';

const EXAMPLES = fileURLToPath(new URL('../examples', import.meta.url));
/** `npx tsx` is the same, and slower. */
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const run = promisify(execFile);

let base = '';
beforeAll(async () => {
  base = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-examples-'));
});
afterAll(() => fs.rm(base, { recursive: true, force: true }));

/** What the example prints, run in a folder. Nothing may be on stderr: no warning, no stack trace. */
async function output(name: string, folder: string, args: readonly string[] = [], own = {}): Promise<string> {
  const cwd = path.join(base, folder);
  await fs.mkdir(cwd, { recursive: true });
  const { OPENAI_API_KEY: _, REKINDLE_MEMORY_DIR: __, AUTOBYTEUS_MEMORY_DIR: ___, ...env } = process.env;
  const command = ['--import', TSX, path.join(EXAMPLES, `${name}.ts`), ...args];
  const { stdout, stderr } = await run(process.execPath, command, { cwd, env: { ...env, ...own } });
  expect(stderr).toBe('');
  return stdout;
}

const schema = newSchemaName();

/** Null without a server. */
function postgresUrl(): string | null {
  const url = testPostgres();
  return url && `${url}?schema=${schema}`;
}

describe('examples', () => {
  it('restart.ts begins an agent, and the second run remembers', async () => {
    const first = await output('restart', 'tea', ['I like green tea.']);
    expect(first).toContain('That is the first thing I know of you.');
    expect(first).toContain('a new agent 3 messages');
    const second = await output('restart', 'tea', ['What do I like?']);
    expect(second).toContain('the first was "I like green tea."');
    expect(second).toContain('cache 5 messages');
  });

  it('ai-sdk-host.ts answers with a guarded tool, and the next run, with a real provider, remembers', async () => {
    const first = await output('ai-sdk-host', 'host');
    expect(first).toContain('a new context');
    expect(first).toContain('It arrives on Friday. This is question 1');

    const call = { id: 'call_a', name: 'look_up_order', arguments: '{"order":"4711"}' };
    const server = await openAiChatServer([{ calls: [call] }, { text: 'Still on Friday.' }]);
    const key = { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: server.url };
    const second = await output('ai-sdk-host', 'host', ['And now?'], key);
    expect(second).toContain('restored: cache, 5 messages');
    expect(second).toContain('Still on Friday.');
    expect(server.refused).toEqual([]);
    expect(server.accepted[1]!['messages']).toHaveLength(8);
  });

  it.each([
    ['a folder', () => 'file:./memory'],
    ['SQLite', () => 'sqlite:./agents.db'],
    ['PostgreSQL', postgresUrl],
  ])('any-store.ts runs unchanged on %s, and the second run remembers', async (store, address) => {
    const url = address();
    if (url === null) return;
    const first = await output('any-store', store, [url]);
    expect(first).toContain('a new agent 3 messages');
    expect(first).toContain('this is run 1');
    const second = await output('any-store', store, [url]);
    expect(second).toContain('cache 5 messages');
    expect(second).toContain('the notes are in version 2');
    expect(second).toContain('this is run 2');
  });

  it('resume-after-crash.ts is killed in a tool, learns that the outcome is unknown, and does not pay twice', async () => {
    const text = await output('resume-after-crash', 'crash');
    expect(text).toContain('interrupted: pay_bill, outcome_unknown');
    expect(text).toContain('[is_bill_paid]');
    expect(text).not.toContain('[pay_bill]');
    expect(text).toContain('The bill is paid; I did not pay it twice.');
    expect(text).toContain('turn turn_0001: completed');
  });

  it.each(['openai-chat-host', 'openai-responses-host', 'anthropic-host', 'gemini-host'])(
    '%s.ts is killed in its tool, and goes on after a restart with requests that its provider takes',
    async (name) => {
      const text = await output(name, name);
      expect(text).toContain(
        'I pay it.\n\n[killed in the middle of pay_bill]\ninterrupted: pay_bill, outcome_unknown',
      );
      expect(text).toContain('I do not know whether the bill was paid');
    },
    120_000, // two processes, each with the whole client of its provider
  );

  it('three-agents.ts is killed twice and resumed, writes each entry once, and keeps every agent to its budget', async () => {
    const text = await output('three-agents', 'agents');
    const [first = '', second = '', third = ''] = text.split(/\[killed: .*\]\n/);
    expect(text).toContain('[killed: trace_analyst after write_to_workspace]');
    expect(text).toContain('[killed: context_engineer before get_workspace_context]');
    expect(first).toContain('a new session');
    expect(second).toContain('trace_analyst: write_to_workspace was interrupted, outcome_unknown');
    expect(second).toContain('trace_analyst: error_patterns is done.');
    expect(third).toContain('trace_analyst: done before');
    expect(third).toContain('context_engineer: get_workspace_context was interrupted, outcome_unknown');
    expect(third).toContain('agent_architect: agent_design is done.');

    const budgets = { context_engineer: 300, agent_architect: 400 };
    for (const [name, budget] of Object.entries(budgets)) {
      const [, tokens] = new RegExp(`^${name} is shown \\((\\d+) tokens\\):$`, 'm').exec(third) ?? [];
      expect(Number(tokens)).toBeGreaterThan(0);
      expect(Number(tokens)).toBeLessThanOrEqual(budget);
    }
    expect(third).toContain('<missing_dependency key="performance_metrics" producer="trace_analyst" />');
    expect(third).toContain('3 writes by agent_architect, context_engineer, trace_analyst');
    // The call that was interrupted is in the log as one that failed, and the entry was looked for, not written again.
    expect(third).toContain(
      '  trace_analyst: write_to_workspace, error\n  trace_analyst: read_from_workspace, ok',
    );
    expect(third.match(/write_to_workspace, ok/g)).toHaveLength(2);
  });

  it('task-board.ts is killed after the builder took its task, goes on, and does what a person adds meanwhile', async () => {
    const text = await output('task-board', 'board');
    const [killed, rest = ''] = text.split('[killed with SIGKILL]\n');
    expect(killed).toBe('');
    expect(rest).toMatch(
      /^builder was interrupted and continues\nA person adds a task to the file\.\nbuilder reads: task_board was not changed/,
    );
    expect(rest).toContain('builder: all my tasks are done.\nreviewer: all my tasks are done.\n');
    expect([...rest.matchAll(/^ {2}\d+ (.+)$/gm)].map(([, line]) => line)).toEqual([
      'rekindle: ',
      'planner: the plan',
      'builder: in_progress: Parse the file',
      'human: ',
      'builder: done: Parse the file',
      'builder: in_progress: Write the manual',
      'builder: done: Write the manual',
      'reviewer: in_progress: Read the parser',
      'reviewer: done: Read the parser',
    ]);
    expect(rest).toContain('T-001 builder done\nT-002 reviewer done\nT-003 builder done\n');
  }, 120_000); // three processes, one after the other

  it('two-documents.ts changes the state of the agent and the board in each of two turns, and prints both as they are on disk', async () => {
    const text = await output('two-documents', 'two');
    const [, first = '', second = ''] = text.split(/^Turn \d: .*\n/m);
    const printed = (turn: string, name: string): unknown =>
      JSON.parse(new RegExp(`^${name}, version \\d+: (.*)$`, 'm').exec(turn)?.[1] ?? 'null');
    expect(text.match(/^Turn .*$/gm)).toEqual([
      'Turn 1: in_progress: Parse the file',
      'Turn 2: done: Parse the file',
    ]);
    const taken = { active_task_id: 'T-001', next_action: 'Finish T-001', touched_files: [] };
    expect(printed(first, 'agent_state')).toMatchObject(taken);
    const tasks = (status: string) => ({
      tasks: [
        { id: 'T-001', status },
        { id: 'T-002', status: 'todo' },
      ],
    });
    expect(printed(first, 'task_board')).toMatchObject(tasks('in_progress'));
    const done = { active_task_id: '', next_action: 'Take the next task', touched_files: ['src/parser.ts'] };
    expect(printed(second, 'agent_state')).toMatchObject(done);
    expect(printed(second, 'task_board')).toMatchObject(tasks('done'));
    for (const name of ['agent_state', 'task_board']) {
      const file = path.join(base, 'two', 'memory', 'state', `${name}.json`);
      const { _shows, ...value } = JSON.parse(await fs.readFile(file, 'utf8')) as Record<string, unknown>;
      expect(value).toEqual(printed(second, name));
    }
    expect(await output('two-documents', 'two')).toContain('Turn 2: done: Write the manual');
  }, 120_000); // two processes, one after the other

  it('hand-edit.ts adopts a valid edit and holds agents off, and leaves a bad one as it is, with its place', async () => {
    const text = await output('hand-edit', 'edit');
    const [noted = '', valid = '', refused = ''] = text.split(/\nA person edits the file, and it is .*\n/);
    expect(noted).toContain('version 2 by builder: ["no key for the service"]');
    expect(valid).toContain('version 3 by human: ["the key is in the vault"]');
    expect(valid).toMatch(
      /the agent has to wait: agent_state is not written for another \d+ ms: A person edited it/,
    );
    expect(valid).toContain('version 4 by builder: ["the key is in the vault","a second blocker"]');
    expect(refused).toMatch(/refused at line 4, column \d+: \/touched_files must be array/);
    expect(refused).toContain(
      'the agent has to wait: agent_state.json holds an edit that is refused: line 4,',
    );
    expect(refused).toContain('the file is as the person wrote it: true\nagents still read version 4');
    const file = path.join(base, 'edit', 'memory', 'state', 'agent_state.json');
    expect(await fs.readFile(file, 'utf8')).toContain('"touched_files": "none"');
  });

  it('checkpoints.ts saves after every turn, and goes on from the third without touching the first agent', async () => {
    const text = await output('checkpoints', 'checkpoints');
    expect(text).toContain('trip@3 gave trip-by-train 7 messages.');
    expect(text).toContain(
      'It went on: 9 messages, the last question was "From here on we take the train.".',
    );
    expect(text).toContain('The first agent is unchanged.');
    expect(Number(/Ten checkpoints take (\d+) bytes\./.exec(text)?.[1])).toBeGreaterThan(0);
  });
});
