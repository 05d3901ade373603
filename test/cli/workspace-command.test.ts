/** `workspace`: entries and their versions, and what of them an agent is shown. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { Workspace } from '../../src/workspace/workspace.js';
import { batchOf, HOSTILE, jsonOf, linesOf, OBEYED, rowsOf, runCliBatch } from './cli-batch.js';
import { CLI_TIMEOUT_MS, entriesBelow, inFolder, removeFolder, runCli, tempFolder } from './cli-fixture.js';

async function withWorkspace(dir: string, use: (workspace: Workspace) => Promise<unknown>): Promise<void> {
  const storage = new FileStorage(dir);
  const workspace = new Workspace(storage);
  await use(workspace);
  await workspace.close();
  await storage.close();
}

describe('entries', { timeout: CLI_TIMEOUT_MS }, () => {
  let dir: string;
  let before: Map<string, string>;
  let workspace: ReturnType<typeof batchOf>;

  beforeAll(async () => {
    dir = await tempFolder();
    workspace = batchOf('workspace', dir);
    await withWorkspace(dir, async (made) => {
      await made.write('plan', { goal: 'ship', steps: ['a', 'b'] }, { agent: 'planner' });
      await made.write('plan', { goal: 'rest', steps: ['a'] }, { agent: 'builder' });
      await made.rollback('plan', 1, { agent: 'planner' });
      await made.write('gone', 1, { agent: 'planner' });
      await made.delete('gone', { agent: 'planner' });
      await made.write(
        'large',
        Array.from({ length: 60 }, (_, n) => `item ${n}`),
        { agent: 'builder' },
      );
      await made.write('odd', { text: HOSTILE, [HOSTILE]: 1 }, { agent: HOSTILE });
      await made.write('odd', { text: HOSTILE }, { agent: HOSTILE });
    });
    before = await entriesBelow(dir);
  }, CLI_TIMEOUT_MS);
  afterAll(() => removeFolder(dir));

  it('list names them, with --deleted also what is gone', async () => {
    const [shown, json] = await workspace(['list'], ['list', '--deleted', '--json']);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(rowsOf(shown).slice(1)).toEqual([
      ['large', '1', 'builder', 'TIME', expect.stringMatching(/^\d+$/)],
      ['odd', '2', expect.stringMatching(/^red\\u001b\[31m.*\.\.\.$/), 'TIME', expect.any(String)],
      ['plan', '3', 'planner', 'TIME', '33'],
    ]);
    expect(jsonOf(json)).toMatchObject({ entries: [{ key: 'gone', deleted: true }, {}, {}, {}] });
  });

  it('show prints the newest value, or that of --version', async () => {
    const [newest, older] = await workspace(['show', 'plan'], ['show', 'plan', '--version', '2', '--json']);
    expect(newest).toMatchObject({ code: 0, stderr: '' });
    expect(jsonOf(newest)).toEqual({ goal: 'ship', steps: ['a', 'b'] });
    expect(jsonOf(older)).toMatchObject({
      key: 'plan',
      version: 2,
      writtenBy: 'builder',
      event: 'write',
      value: { goal: 'rest' },
    });
  });

  it('history is newest first; diff tells what changed', async () => {
    const [history, json, diff, same] = await workspace(
      ['history', 'plan'],
      ['history', 'gone', '--limit', '1', '--json'],
      ['diff', 'plan', '1', '2'],
      ['diff', 'plan', '1', '3', '--json'],
    );
    expect(history).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(history)).toEqual([
      '3  TIME  planner  rollback to 1  {"goal":"ship","steps":["a","b"]}',
      '2  TIME  builder  write  {"goal":"rest","steps":["a"]}',
      '1  TIME  planner  write  {"goal":"ship","steps":["a","b"]}',
      '',
    ]);
    expect(jsonOf(json)).toMatchObject({
      key: 'gone',
      versions: [{ version: 2, event: 'delete', value: null }],
    });
    expect(diff).toEqual({ code: 0, stdout: '- /steps/1\n~ /goal: "rest"\n', stderr: '' });
    expect(jsonOf(same)).toEqual({ key: 'plan', changes: [] });
  });

  it('what is not there gives 3, and is named', async () => {
    const [show, version, diff, history] = await workspace(
      ['show', 'nothing'],
      ['show', 'gone', '--version', '2'],
      ['diff', 'plan', '1', '9', '--json'],
      ['history', 'nothing'],
    );
    expect(show).toMatchObject({ code: 3, stdout: '' });
    expect(show.stderr).toContain('There is no entry "nothing" here. (ENTRY_NOT_FOUND)');
    expect(version).toMatchObject({ code: 3, stdout: '' });
    expect(version.stderr).toContain('There is no value of version 2 of "gone" here.');
    expect(diff.code).toBe(3);
    expect(jsonOf(diff)).toMatchObject({ error: { code: 'ENTRY_NOT_FOUND', details: { version: 9 } } });
    expect(history).toMatchObject({ code: 3, stdout: '' });
  });

  it('context shows an agent its keys within the budget, and names what is missing', async () => {
    const keys = ['--required', 'plan, nothing', '--optional', 'large'] as const;
    const [all, chosen] = await workspace(
      ['context', 'builder', '--excluded', 'odd'],
      ['context', 'designer', ...keys, '--budget', '120', '--json'],
    );
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(all)).toEqual([
      '<workspace_context>',
      '<workspace_entry key="plan" version="3" written_by="planner">',
      '{"goal":"ship","steps":["a","b"]}',
      '</workspace_entry>',
      '</workspace_context>',
      '',
    ]);
    const { tokens, text, ...rest } = jsonOf(chosen) as { tokens: number; text: string };
    expect(tokens).toBeLessThanOrEqual(120);
    expect(text).toContain('<missing_dependency key="nothing" />');
    expect(rest).toMatchObject({
      unmet: ['nothing'],
      keys: [{ status: 'full' }, { status: 'missing' }, { status: 'truncated' }],
    });
  });

  it('timing tells how the agents worked together', async () => {
    const [{ code, stdout }] = await workspace(['timing', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      totalWrites: 8,
      agentsInvolved: ['builder', 'planner', HOSTILE],
      byAgent: { builder: { writes: 2 }, planner: { writes: 4 } },
    });
  });

  it('hostile names and values are shown, not obeyed, and make no lines of their own', async () => {
    const results = await workspace(
      ['history', 'odd'],
      ['diff', 'odd', '2', '1'],
      ['timing'],
      ['context', 'designer', '--required', 'odd'],
    );
    for (const { stdout } of results) {
      expect(stdout).toMatch(/red(\\u001b|\ufffd)/);
      expect(stdout).not.toMatch(OBEYED);
      expect(stdout).not.toMatch(/^9 /m);
    }
    expect(linesOf(results[0])[0]).toMatch(/^2 {2}TIME {2}red\\u001b.* {2}write {2}\{"text":/);
  });

  it('none of them changes a byte, or leaves a file', async () => {
    expect(await entriesBelow(dir)).toEqual(before);
  });
});

describe('writing', { timeout: CLI_TIMEOUT_MS }, () => {
  it('takes JSON, a text, or what is piped in; JSON that was encoded twice is decoded, and that is told', () =>
    inFolder(async (dir) => {
      const [[json, , text, twice, bad], piped] = await Promise.all([
        batchOf('workspace', dir)(
          ['write', 'json', '{"a":[1]}'],
          ['write', 'nothing', 'null'],
          ['write', 'text', 'two words', '--agent', 'ada', '--json'],
          ['write', 'twice', '"{\\"c\\":3}"'],
          ['write', '', 'x'],
        ),
        runCli(['workspace', 'write', 'piped', '-d', dir], { input: '{"b":2}\n' }),
      ]);
      expect(json).toEqual({ code: 0, stdout: 'json is at version 1.\n', stderr: '' });
      expect(piped).toEqual({ code: 0, stdout: 'piped is at version 1.\n', stderr: '' });
      expect(jsonOf(text)).toEqual({ key: 'text', version: 1, notes: [] });
      expect(twice).toEqual({
        code: 0,
        stdout: 'twice is at version 1.\nThe value was a text with JSON in it, and was decoded.\n',
        stderr: '',
      });
      expect(bad).toMatchObject({ code: 2, stdout: '' });
      expect(bad.stderr).toContain('This cannot be a key of the workspace: it is empty.');
      await withWorkspace(dir, async (workspace) => {
        const values = {
          json: { a: [1] },
          nothing: null,
          text: 'two words',
          piped: { b: 2 },
          twice: { c: 3 },
        };
        for (const [key, value] of Object.entries(values))
          expect((await workspace.read(key))?.value).toEqual(value);
        expect((await workspace.read('text'))?.writtenBy).toBe('ada');
        expect((await workspace.read('json'))?.writtenBy).toBe('human');
      });
    }));

  it('rollback makes an older value the newest, delete leaves the history; neither makes up what is not there', () =>
    inFolder(async (dir) => {
      await withWorkspace(dir, async (made) => {
        await made.write('back', 'old');
        await made.write('back', 'new');
        await made.write('away', 'x');
      });
      const [back, away, version, key] = await batchOf('workspace', dir)(
        ['rollback', 'back', '1', '--agent', 'ada'],
        ['delete', 'away', '--json'],
        ['rollback', 'back', '7', '--json'],
        ['delete', 'nothing'],
      );
      expect(back).toEqual({
        code: 0,
        stdout: 'back is at version 3, with the value of version 1.\n',
        stderr: '',
      });
      expect(jsonOf(away)).toEqual({ key: 'away', deleted: true });
      expect(version.code).toBe(3);
      expect(jsonOf(version)).toMatchObject({ error: { code: 'ENTRY_NOT_FOUND' } });
      expect(key).toMatchObject({ code: 3, stdout: '' });
      await withWorkspace(dir, async (workspace) => {
        expect(await workspace.read('back')).toMatchObject({ value: 'old', writtenBy: 'ada', from: 1 });
        expect(await workspace.read('away')).toBeNull();
        expect(await workspace.history('away')).toHaveLength(2);
      });
    }));
});

describe('in a folder without a workspace', { timeout: CLI_TIMEOUT_MS }, () => {
  it('list, calls and sessions say so, and make nothing', () =>
    inFolder(async (cwd) => {
      const [list, calls, sessions] = await runCliBatch(
        [
          ['workspace', 'list'],
          ['workspace', 'calls'],
          ['workspace', 'sessions'],
        ],
        { cwd },
      );
      expect(list).toEqual({ code: 0, stdout: 'The workspace is empty.\n', stderr: '' });
      expect(calls).toEqual({ code: 0, stdout: 'No calls found.\n', stderr: '' });
      expect(sessions).toEqual({ code: 0, stdout: 'No sessions here.\n', stderr: '' });
      expect((await entriesBelow(cwd)).size).toBe(0);
    }));
});
