/** `list`, `inspect`, `restore`: they show, and change nothing. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLI_TIMEOUT_MS,
  conversation,
  entriesBelow,
  inFolder,
  killedInTool,
  removeFolder,
  runCli,
  tempFolder,
} from './cli-fixture.js';

const HOSTILE = 'Hi \u001b[31mred\u001b]0;title\u0007 \u009b2J \u202edrow';
/** What a terminal would obey. Newlines may stay. */
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

let dir: string;
let before: Map<string, string>;

beforeAll(async () => {
  dir = await tempFolder();
  await conversation(dir, 'ada', ['Hello.', 'Go on.']);
  await killedInTool(dir, 'Crashed One', HOSTILE);
  before = await entriesBelow(dir);
}, CLI_TIMEOUT_MS);

afterAll(() => removeFolder(dir));

describe('in a folder with agents', { timeout: CLI_TIMEOUT_MS }, () => {
  it('list shows each agent with its state, for people and as JSON', async () => {
    const [shown, json] = await Promise.all([
      runCli(['list', '--dir', dir]),
      runCli(['list', '--json'], { env: { REKINDLE_MEMORY_DIR: dir } }),
    ]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    const rows = shown.stdout.split('\n').map((line) => line.split('│').map((cell) => cell.trim()));
    expect(rows.find((row) => row[1] === 'ada')).toEqual([
      '',
      'ada',
      'stopped',
      '5',
      '1',
      '6',
      'valid',
      expect.stringMatching(/^\d{4}-.*Z$/),
      '',
    ]);
    expect(rows.find((row) => row[1] === 'Crashed One')?.slice(2, 3)).toEqual(['crashed']);

    expect(json).toMatchObject({ code: 0, stderr: '' });
    const result = JSON.parse(json.stdout) as { dir: string; agents: Record<string, unknown>[] };
    expect(result.dir).toBe(dir);
    expect(result.agents.map((agent) => agent['agentId'])).toEqual(['Crashed One', 'ada']);
    expect(result.agents[1]).toEqual({
      agentId: 'ada',
      status: 'stopped',
      owner: null,
      messages: 5,
      epochId: 1,
      snapshot: 'valid',
      traces: 6,
      lastTraceTs: expect.any(Number),
    });
    expect(result.agents[0]).toMatchObject({ status: 'crashed', owner: { host: 'elsewhere' } });
  });

  it('inspect shows status, what the context is made of, and open ends', async () => {
    const [shown, json] = await Promise.all([
      runCli(['inspect', 'ada', '-d', dir]),
      runCli(['inspect', 'Crashed One', '-d', dir, '--json']),
    ]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain('Agent ada: stopped, cache valid, 6 traces.');
    expect(shown.stdout).toMatch(/Epoch 1; 5 messages, about \d+ tokens:\n/);
    for (const part of ['system', 'requests', 'answers'])
      expect(shown.stdout).toMatch(new RegExp(`^ {2}${part} +#+ +\\d+ {2}\\d+ %$`, 'm'));

    expect(json.code).toBe(0);
    const result = JSON.parse(json.stdout) as Record<string, Record<string, unknown>>;
    expect(Object.keys(result)).toEqual(['summary', 'tokens', 'parts', 'report', 'inputs']);
    expect(result['summary']).toMatchObject({ agentId: 'Crashed One', status: 'crashed' });
    expect(result['report']).toMatchObject({ dry: true, frontier: { kind: 'interrupted_tools' } });
    const { total, ...byRole } = result['tokens'] as Record<string, number>;
    for (const tokens of [byRole, result['parts'] as Record<string, number>])
      expect(Object.values(tokens).reduce((sum, part) => sum + part, 0)).toBe(total);
  });

  it('restore shows the report and the context; hostile text is shown and not obeyed', async () => {
    const [shown, json] = await Promise.all([
      runCli(['restore', 'Crashed One', '-d', dir, '--full']),
      runCli(['restore', 'Crashed One', '-d', dir, '--json']),
    ]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain('Interrupted call work (call_work): it was running');
    expect(shown.stdout).toContain('Hi \\u001b[31mred\\u001b]0;title\\u0007 \\u009b2J \\u202edrow');
    expect(shown.stdout).not.toMatch(OBEYED);

    expect(json.code).toBe(0);
    const result = JSON.parse(json.stdout) as { report: object; messages: Record<string, unknown>[] };
    expect(Object.keys(result)).toEqual(['report', 'messages']);
    expect(result.report).toMatchObject({
      agentId: 'Crashed One',
      source: 'cache+tail',
      dry: true,
      interruptedCalls: [{ callId: 'call_work', toolName: 'work', verdict: 'outcome_unknown' }],
      unknown: ['Whether the call call_work of work took effect.'],
    });
    expect(result.messages.map((message) => message['role'])).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'tool',
    ]);
    expect(result.messages[3]).toMatchObject({ content: HOSTILE });
    expect(result.messages[5]).toMatchObject({ synthetic: true });
  });

  it('none of them changes a byte, or leaves a file', async () => {
    expect(await entriesBelow(dir)).toEqual(before);
  });
});

describe('in a folder without agents', { timeout: CLI_TIMEOUT_MS }, () => {
  it('list says so, names the folder, and does not make it', () =>
    inFolder(async (cwd) => {
      const { code, stdout, stderr } = await runCli(['list'], {
        cwd,
        env: { REKINDLE_MEMORY_DIR: 'elsewhere' },
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`No agents in ${path.join(cwd, 'elsewhere')}.`);
      expect((await entriesBelow(cwd)).size).toBe(0);
    }));
});
