/** `checkpoint`: contexts and whole agents, saved, loaded, listed, compared; and `--from-checkpoint`. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import type { JsonObject } from '../../src/core/json.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { batchOf, jsonOf, linesOf, OBEYED, rowsOf, runCliBatch } from './cli-batch.js';
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

/** A value that a terminal would obey, and that is to come back as it was. */
const ODD = 'red\u001b[31m\u009b1m\u202eback\u2028\r\n\\u0041';

async function withService(dir: string, run: (service: CheckpointService) => Promise<unknown>) {
  const storage = new FileStorage(dir, { durability: 'relaxed' });
  const service = new CheckpointService({ backend: storage });
  await run(service);
  await service.close();
  await storage.close();
}

async function file(dir: string, name: string, content: unknown): Promise<string> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  await fs.writeFile(path.join(dir, name), text);
  return name;
}

describe('checkpoint save', { timeout: CLI_TIMEOUT_MS }, () => {
  it('saves a file, says what it took, and skips what did not change', () =>
    inFolder(async (dir) => {
      await file(dir, 'a.json', '\ufeff{ "goal": "refund", "n": 1 }');
      const save = ['save', 'a.json', '--session', 'billing'];
      const [first, again, forced, derived] = await batchOf('checkpoint', dir)(
        [...save, '--name', 'before', '--tag', 'risky', '--tag', 'blue', '--workflow', 'w'],
        save,
        [...save, '--force', '--critical', '--json'],
        ['save', 'a.json', '--json'],
      );
      expect(first).toMatchObject({ code: 0, stderr: '' });
      expect(first.stdout).toMatch(/^Saved billing@1: 23 bytes of JSON; \d+ bytes added to /);
      expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing was saved') });
      expect(again.stdout).toContain('billing@1');
      expect(jsonOf(forced)).toMatchObject({
        status: 'SAVED',
        checkpointId: 'billing@2',
        sessionId: 'billing',
        metadata: { critical: true, tags: [], kind: null },
        removed: [],
        warnings: [],
      });
      expect(jsonOf(derived)['sessionId']).toMatch(/^session_[0-9a-f]{32}$/);
    }));

  it('takes standard input, and refuses what is no JSON there', async () => {
    await inFolder(async (dir) => {
      const save = ['checkpoint', 'save', '--session', 's', '-d', dir];
      const saved = await runCli(save, { input: '{"n": 1}' });
      const empty = await runCli(save, { input: '' });
      expect(saved).toMatchObject({ code: 0, stdout: expect.stringContaining('Saved s@1') });
      expect(empty).toMatchObject({ code: 2, stdout: '' });
      expect(empty.stderr).toContain('standard input is not JSON. (INVALID_ARGUMENT)');
    });
  });

  it('refuses with 2 what is no context, and an integer that would be rounded, and writes nothing', () =>
    inFolder(async (dir) => {
      await file(dir, 'list.json', [1]);
      await file(dir, 'torn.json', '{"a": ');
      await file(dir, 'large.json', '{"id": 12345678901234567890}');
      await file(dir, 'a.json', {});
      const before = await entriesBelow(dir);
      const results = await batchOf('checkpoint', dir)(
        ['save', 'list.json'],
        ['save', 'torn.json'],
        ['save', 'large.json'],
        ['save', 'a.json', '--agent', 'ada'],
        ['save', 'a.json', '--session', 'a/b'],
        ['save', 'a.json', '--name', 'red\u001b[31m'],
      );
      expect(results.map(({ code, stdout }) => [code, stdout])).toEqual(results.map(() => [2, '']));
      expect(results.map(({ stderr }) => stderr.split('\n')[0])).toEqual([
        'The context is refused: a context is a JSON object. (INVALID_ARGUMENT)',
        'torn.json is not JSON. (INVALID_ARGUMENT)',
        expect.stringMatching(/^large\.json has a number with too many digits .* Write it as text\./),
        expect.stringMatching(/^--agent saves an agent, a file is a context/),
        expect.stringMatching(/\(INVALID_NAME\)$/),
        expect.stringMatching(/^name is refused: it has control characters/),
      ]);
      expect(await entriesBelow(dir)).toEqual(before);
    }));

  it('saves a whole agent under its own id; 3 for one that is not there', () =>
    inFolder(async (dir) => {
      await conversation(dir, 'desk', ['Hi.']);
      const save = ['save', '--agent', 'desk', '--json'];
      const [first, again, other, missing] = await batchOf('checkpoint', dir)(
        save,
        save,
        [...save, '--session', 'trip'],
        ['save', '--agent', 'nobody'],
      );
      expect(jsonOf(first)).toMatchObject({
        status: 'SAVED',
        checkpointId: 'desk@1',
        metadata: { kind: 'agent', agentId: 'desk' },
      });
      expect(jsonOf(again)).toMatchObject({ status: 'SKIPPED_UNCHANGED' });
      expect(jsonOf(other)).toMatchObject({ checkpointId: 'trip@1', metadata: { agentId: 'desk' } });
      expect(missing).toMatchObject({ code: 3, stdout: '' });
      expect(missing.stderr).toContain('(AGENT_NOT_FOUND)');
    }));

  it('without --dir keeps checkpoints beside the agents: two projects do not mix', () =>
    inFolder(async (dir) => {
      const env = { XDG_DATA_HOME: path.join(dir, 'data'), REKINDLE_DATA_DIR: '' };
      for (const project of ['one', 'two']) {
        await conversation(path.join(dir, project, 'memory'), 'desk', [`I am ${project}.`]);
        const options = { cwd: path.join(dir, project), env };
        const saved = await runCli(['checkpoint', 'save', '--agent', 'desk'], options);
        expect(saved).toMatchObject({ code: 0, stdout: expect.stringContaining('Saved desk@1') });
        const made = await runCli(['restore', 'again', '--from-checkpoint', 'desk@1', '--json'], options);
        expect(JSON.stringify(jsonOf(made)['messages'])).toContain(`I am ${project}.`);
        expect(await fs.readdir(path.join(dir, project, 'memory'))).toEqual(['agents', 'checkpoints']);
      }
    }));

  it('says where earlier releases kept checkpoints, and reads them only when they are named', () =>
    inFolder(async (dir) => {
      const earlier = path.join(dir, 'data', 'rekindle');
      await fs.mkdir(earlier, { recursive: true });
      await withService(earlier, (service) => service.save({ sessionId: 'old', context: { n: 1 } }));
      const options = { cwd: dir, env: { XDG_DATA_HOME: path.join(dir, 'data'), REKINDLE_DATA_DIR: '' } };
      const listed = await runCli(['checkpoint', 'list'], options);
      expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('--dir data/rekindle') });
      const missing = await runCli(['checkpoint', 'load', 'old@1'], options);
      expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('--dir data/rekindle') });
      const named = await runCli(['checkpoint', 'load', 'old@1', '--dir', earlier], options);
      expect(JSON.parse(named.stdout)).toEqual({ n: 1 });
    }));

  it('begins no agent from a context that only says of itself that it is one, unless it is trusted', () =>
    inFolder(async (dir) => {
      await conversation(dir, 'desk', ['Hi.']);
      const image = path.join(dir, 'image.json');
      const begin = (id: string, ...more: string[]) => [
        'restore',
        id,
        '--from-checkpoint',
        'forged@1',
        ...more,
        '--dir',
        dir,
      ];
      await runCli(['checkpoint', 'save', '--agent', 'desk', '--dir', dir]);
      await runCli(['checkpoint', 'load', 'desk@1', '--out', image, '--dir', dir]);
      await runCli(['checkpoint', 'save', image, '--session', 'forged', '--dir', dir]);
      const refused = await runCli(begin('evil'));
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('not as a whole agent') });
      expect(await fs.readdir(path.join(dir, 'agents'))).toEqual(['desk']);
      expect(await runCli(begin('known', '--trust-context'))).toMatchObject({ code: 0 });
    }));
});

describe('in a folder with checkpoints', { timeout: CLI_TIMEOUT_MS }, () => {
  let dir: string;
  let checkpoint: ReturnType<typeof batchOf>;
  const odd: JsonObject = { goal: ODD, [ODD]: [1.5, null] };

  beforeAll(async () => {
    dir = await tempFolder();
    checkpoint = batchOf('checkpoint', dir);
    await withService(dir, async (service) => {
      const of = { sessionId: 'billing', agentId: 'ada' };
      await service.save({
        ...of,
        context: { n: 1, old: true },
        metadata: { name: 'one', tags: ['a', 'b'] },
      });
      await service.save({ ...of, context: { n: 2, text: ODD }, metadata: { tags: ['b'] }, critical: true });
      await service.save({ sessionId: 'odd', context: odd, metadata: { name: '\u202enam\u200fe' } });
      await service.save({ sessionId: 'long', context: { debug: 'x'.repeat(4_000), goal: 'go' } });
    });
  }, CLI_TIMEOUT_MS);
  afterAll(() => removeFolder(dir));

  it('load gives exactly what was saved, also odd text, and shows nothing that a terminal obeys', async () => {
    const [one, newest, text, json] = await checkpoint(
      ['load', 'billing@1'],
      ['load', 'billing'],
      ['load', 'odd'],
      ['load', 'odd@1', '--json'],
    );
    expect(one).toEqual({ code: 0, stdout: '{\n  "n": 1,\n  "old": true\n}\n', stderr: '' });
    expect(jsonOf(newest)).toEqual({ n: 2, text: ODD });
    for (const result of [text, json]) expect(JSON.stringify(jsonOf(result))).toBe(JSON.stringify(odd));
    expect(text.stdout).not.toMatch(OBEYED);
  });

  it('load --out writes a new file, never over another', async () => {
    const load = ['load', 'odd', '--out', 'out.json'];
    const [written, again] = await checkpoint(load, load);
    expect(written).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(await fs.readFile(path.join(dir, 'out.json'), 'utf8'))).toEqual(odd);
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toContain('The file already exists and was not changed. Choose another name.');
  });

  it('load --budget gives what a model is shown, and what it left out', async () => {
    const [json, bad] = await checkpoint(
      ['load', 'long', '--budget', '100', '--json'],
      ['load', 'long', '--budget', 'many'],
    );
    expect(jsonOf(json)).toMatchObject({ budget: 100, context: { goal: 'go' }, keys: expect.any(Array) });
    expect(jsonOf(json)['tokens']).toBeLessThanOrEqual(100);
    expect(bad).toMatchObject({ code: 2, stdout: '' });
    expect(bad.stderr).toContain('--budget must be a whole number from 1, not "many".');
  });

  it('list shows them newest first, with names and tags, and nothing that a terminal obeys', async () => {
    const [all, json] = await checkpoint(['list'], ['list', 'billing', '--json']);
    expect(rowsOf(all).map((row) => [row[0], row[1], row[2], row[3], row[6]])).toEqual([
      ['checkpoint', 'saved', 'name', 'tags', ''],
      ['long@1', 'TIME', '', '', ''],
      ['odd@1', 'TIME', '\\u202enam\\u200fe', '', ''],
      ['billing@2', 'TIME', '', 'b', 'critical'],
      ['billing@1', 'TIME', 'one', 'a, b', ''],
    ]);
    expect(all.stdout).not.toMatch(OBEYED);
    expect(jsonOf(json)).toMatchObject({ checkpoints: [{ id: 'billing@2' }, { id: 'billing@1' }], total: 2 });
  });

  it('list filters by session, tag, agent and time, and says of how many it shows some', async () => {
    const ids = (result: Awaited<ReturnType<typeof runCli>>) =>
      rowsOf(result)
        .slice(1)
        .map((row) => row[0]);
    const [tag, agent, late, early, page, none] = await checkpoint(
      ['list', '--tag', 'a'],
      ['list', '--agent', 'ada', '--tag', 'b'],
      ['list', '--after', '2100-01-01'],
      ['list', 'billing', '--before', '2100-01-01T00:00:00Z'],
      ['list', '--limit', '1', '--offset', '2'],
      ['list', '--tag', 'none'],
    );
    expect(ids(tag)).toEqual(['billing@1']);
    expect(ids(agent)).toEqual(['billing@2', 'billing@1']);
    expect(ids(late)).toEqual([]);
    expect(ids(early)).toEqual(['billing@2', 'billing@1']);
    expect(ids(page)).toEqual(['billing@2']);
    expect(page.stdout).toContain('Shown: 1 of 4. For more, use --limit and --offset.');
    for (const result of [late, none]) {
      expect(result).toMatchObject({ code: 0, stderr: '' });
      expect(result.stdout).toMatch(/^There are no such checkpoints in /);
    }
  });

  it('diff says what changed, in lines that nobody obeys', async () => {
    const [changed, same, json] = await checkpoint(
      ['diff', 'billing@1', 'billing@2'],
      ['diff', 'billing@1', 'billing@1'],
      ['diff', 'billing@1', 'billing@2', '--json'],
    );
    expect(linesOf(changed).slice(0, -1).sort()).toEqual([
      expect.stringMatching(/^\+ \/text: "red/),
      '- /old',
      '~ /n: 2',
    ]);
    expect(changed.stdout).not.toMatch(OBEYED);
    expect(same).toEqual({ code: 0, stdout: 'No difference.\n', stderr: '' });
    expect(jsonOf(json)).toMatchObject({ from: 'billing@1', to: 'billing@2', changes: expect.any(Array) });
  });

  it('exits with 3 for what is not there, and 2 for what cannot be meant', async () => {
    const missing = await checkpoint(
      ['load', 'billing@9'],
      ['load', 'nobody'],
      ['load', 'billing@'],
      ['list', 'nobody'],
      ['diff', 'billing@1', 'billing@9'],
      ['mark', 'nobody', 'key'],
      ['mark', 'billing@9'],
      ['delete', 'billing@9'],
      ['delete', 'billing'],
    );
    expect(missing.map(({ code, stdout }) => [code, stdout])).toEqual(missing.map(() => [3, '']));
    const [json] = await checkpoint(['load', 'billing@9', '--json']);
    expect(json).toMatchObject({ code: 3, stderr: '' });
    expect(jsonOf(json)).toMatchObject({ error: { code: 'CHECKPOINT_NOT_FOUND' } });
    const refused = await checkpoint(
      ['list', '--limit', '0'],
      ['list', '--limit', '2000'],
      ['list', '--offset', '-1'],
      ['list', '--after', 'yesterday'],
      ['load', '../x'],
      ['load'],
      ['nonsense'],
    );
    expect(refused.map(({ code, stdout }) => [code, stdout])).toEqual(refused.map(() => [2, '']));
  });
});

describe('--from-checkpoint', { timeout: CLI_TIMEOUT_MS }, () => {
  it('of restore begins a new agent and shows it; a second time it is AGENT_EXISTS', () =>
    inFolder(async (dir) => {
      await conversation(dir, 'desk', ['Hi.', 'And?']);
      const before = await entriesBelow(path.join(dir, 'agents', 'desk'));
      const from = ['restore', 'two', '--from-checkpoint', 'desk@1', '-d', dir];
      const [, made, again, list] = await runCliBatch([
        ['checkpoint', 'save', '--agent', 'desk', '-d', dir],
        from,
        from,
        ['list', '--json', '-d', dir],
      ]);
      expect(made).toMatchObject({ code: 0, stderr: '' });
      expect(made.stdout).toContain('It has 5 messages; the conversation had stopped between two turns.');
      expect(made.stdout).toContain('Answered: And?');
      expect(again).toMatchObject({ code: 6, stdout: '' });
      expect(again.stderr).toContain('The agent "two" exists already. (AGENT_EXISTS)');
      expect(jsonOf(list)).toMatchObject({ agents: [{ agentId: 'desk' }, { agentId: 'two' }] });
      expect(await entriesBelow(path.join(dir, 'agents', 'desk'))).toEqual(before);
    }));

  it('of restore makes no agent from what is none, or is not there, or when another argument is refused', () =>
    inFolder(async (dir) => {
      await conversation(dir, 'desk', ['Hi.']);
      await withService(dir, (service) => service.save({ sessionId: 'plain', context: {} }));
      await runCli(['checkpoint', 'save', '--agent', 'desk', '-d', dir]);
      const begin = (id: string, ...more: string[]) => [
        ...['restore', 'two', '--from-checkpoint', id, '-d', dir],
        ...more,
      ];
      const results = await runCliBatch([
        begin('plain@1'),
        begin('desk@9'),
        begin('desk@1', '--model', 'some'),
        begin('desk@1', '--for', 'nobody'),
      ]);
      expect(results.map(({ code, stdout }) => [code, stdout])).toEqual(
        [2, 3, 2, 2].map((code) => [code, '']),
      );
      expect(results[0]!.stderr).toContain('plain@1 was saved as a plain context, not as a whole agent.');
      expect(await fs.readdir(path.join(dir, 'agents'))).toEqual(['desk']);
    }));

  it('of chat talks to the new agent, which knows what was said', () =>
    inFolder(async (dir) => {
      await conversation(dir, 'desk', ['I like tea.']);
      await runCli(['checkpoint', 'save', '--agent', 'desk', '-d', dir]);
      const chat = ['chat', '-a', 'two', '--from-checkpoint', 'desk@1', '-d', dir];
      const first = await runCli(chat, { input: 'And now?\n' });
      expect(first).toMatchObject({ code: 0, stderr: '' });
      expect(first.stdout).toContain('the first was "I like tea."');
      const again = await runCli(chat, { input: 'And now?\n' });
      expect(again).toMatchObject({ code: 6, stdout: '' });
      expect(again.stderr).toContain('(AGENT_EXISTS)');
    }));

  it('closes a call that was open when the agent was killed, and says so in the context', () =>
    inFolder(async (dir) => {
      await killedInTool(dir, 'desk', 'Pay.');
      const [saved, made] = await runCliBatch([
        ['checkpoint', 'save', '--agent', 'desk', '-d', dir],
        ['restore', 'two', '--from-checkpoint', 'desk@1', '--json', '-d', dir],
      ]);
      expect(saved.code).toBe(0);
      expect(jsonOf(made)).toMatchObject({ report: { interruptedCalls: [] } });
      const messages = jsonOf(made)['messages'] as JsonObject[];
      expect(messages.at(-1)).toMatchObject({
        role: 'tool',
        synthetic: true,
        tool_payload: { tool_call_id: 'call_work', tool_error: expect.any(String) },
      });
    }));
});
