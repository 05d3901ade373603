/** `state`: what documents hold, who changed them, and what becomes of a person's edit. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentState } from '../../src/state/durable/documents/agent-state.js';
import { taskBoard } from '../../src/state/durable/documents/task-board.js';
import type { StateEvent } from '../../src/state/durable/state-event.js';
import { StateManager } from '../../src/state/durable/state-manager.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import {
  batchOf,
  HOSTILE,
  HOSTILE_SHOWN,
  jsonOf,
  linesOf,
  OBEYED,
  rowsOf,
  runCliBatch,
} from './cli-batch.js';
import { CLI_TIMEOUT_MS, entriesBelow, inFolder, removeFolder, runCli, tempFolder } from './cli-fixture.js';

const BAD_BOARD = '{\n  "schema_version": 1,\n  "tasks": "none"\n}\n';

/** As an editor saves it. */
async function edit(dir: string, name: string, text: string): Promise<void> {
  await fs.mkdir(path.join(dir, 'state'), { recursive: true });
  await fs.writeFile(path.join(dir, 'state', `${name}.json`), text);
}

async function leftByWriting(dir: string): Promise<string[]> {
  const entries = await entriesBelow(path.join(dir, 'state'));
  return [...entries].filter(([name]) => !name.includes('lease')).map((entry) => entry.join('\n'));
}

function agentStateIn(storage: FileStorage) {
  return StateManager.open({ ...agentState, backend: storage, humanHoldMs: 0 });
}

async function boardIn(storage: FileStorage): Promise<void> {
  const board = await StateManager.open({ ...taskBoard, backend: storage });
  const task = { id: 'T-001', goal: 'Ship', owner: 'builder', acceptance: ['npm test'], status: 'todo' };
  await board.update(() => ({ schema_version: 1, tasks: [task] }) as never, { by: 'human' });
  await board.close();
}

async function eventsIn(storage: FileStorage): Promise<StateEvent[]> {
  const state = await agentStateIn(storage);
  const events: StateEvent[] = [];
  for await (const event of state.history()) events.push(event);
  await state.close();
  return events;
}

describe('state init', { timeout: CLI_TIMEOUT_MS }, () => {
  it('begins a built-in document without files of the project, and says so when it was there', () =>
    inFolder(async (cwd) => {
      const init = ['state', 'init', 'task_board'];
      const [first, again] = await runCliBatch([init, init], { cwd });
      const schema = 'Its schema: rekindle/schemas/task-board.json\n';
      expect(first).toEqual({ code: 0, stdout: `began state/task_board.json\n${schema}`, stderr: '' });
      const stdout = `state/task_board.json already exists.\n${schema}`;
      expect(again).toEqual({ code: 0, stdout, stderr: '' });
      expect(await fs.readdir(cwd)).toEqual(['memory']);
    }));

  it('takes the name of a built-in document with hyphens, and a second document of its kind', () =>
    inFolder(async (cwd) => {
      const [board, team, shown] = await runCliBatch(
        [
          ['state', 'init', 'task-board', '--json'],
          ['state', 'init', 'task-board.team-a'],
          ['state', 'show', 'task-board.team-a'],
        ],
        { cwd },
      );
      expect(jsonOf(board)).toEqual({
        ...{ name: 'task_board', files: [], schemaVersion: 1, began: true },
        schema: 'rekindle/schemas/task-board.json',
      });
      expect(team.stdout).toContain('began state/task_board.team-a.json\n');
      expect(JSON.parse(shown.stdout)).toEqual({ schema_version: 1, tasks: [] });
    }));

  it('refuses a name that is none, and a name of which a file is there, and writes nothing', () =>
    inFolder(async (cwd) => {
      await fs.mkdir(path.join(cwd, 'rekindle'));
      await fs.writeFile(path.join(cwd, 'rekindle', 'mine.v2.schema.json'), '{}');
      const before = await entriesBelow(cwd);
      const commands = [
        ['state', 'init', '../Mine'],
        ['state', 'init', 'mine', '--json'],
      ] as const;
      const [bad, taken] = await runCliBatch(commands, { cwd });
      expect(bad).toMatchObject({ code: 2, stdout: '' });
      expect(bad.stderr).toContain(
        'A name may have lower-case letters, digits and `_`, and must begin with a letter.',
      );
      expect(taken.code).toBe(2);
      expect(jsonOf(taken)).toMatchObject({
        error: { code: 'INVALID_ARGUMENT', message: expect.stringContaining('mine.v2.schema.json') },
      });
      expect(await entriesBelow(cwd)).toEqual(before);
    }));
});

describe('in a folder with documents', { timeout: CLI_TIMEOUT_MS }, () => {
  let dir: string;
  let before: Map<string, string>;
  let state: ReturnType<typeof batchOf>;

  beforeAll(async () => {
    dir = await tempFolder();
    state = batchOf('state', dir);
    const storage = new FileStorage(dir);
    const document = await agentStateIn(storage);
    const update = (next_action: string, by: string, why: string) =>
      document.update((draft) => ({ ...draft, next_action }), { by, why });
    await update('Read the log', 'builder', 'begin');
    await update(HOSTILE, HOSTILE, HOSTILE);
    await document.commit(agentState.initial as never, { by: 'reviewer' });
    await document.close();
    await boardIn(storage);
    await edit(dir, 'task_board', BAD_BOARD);
    await edit(dir, 'agent_state.alone', '{\n  "schema_version": 1\n}\n');
    await edit(dir, 'notes', '{}');
    await storage.close();
    before = await entriesBelow(dir);
  }, CLI_TIMEOUT_MS);
  afterAll(() => removeFolder(dir));

  it('list tells version, writer, and whether file and journal agree', async () => {
    const [shown, json] = await state(['list'], ['list', '--json']);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(rowsOf(shown)).toEqual([
      ['document', 'version', 'schema', 'by', 'at', 'file'],
      ['agent_state', '4', '1', 'reviewer', 'TIME', 'in step'],
      ['agent_state.alone', '-', '-', '-', '-', 'STATE_INVALID'],
      ['notes', '-', '-', '-', '-', 'no definition'],
      ['task_board', '2', '1', 'human', 'TIME', 'edit refused'],
    ]);
    expect(jsonOf(json)).toMatchObject({ documents: [{ name: 'agent_state', version: 4 }, {}, {}, {}] });
  });

  it('show prints the newest version, or the one of --at', async () => {
    const [newest, older, none] = await state(
      ['show', 'agent_state'],
      ['show', 'agent_state', '--at', '2', '--json'],
      ['show', 'agent_state', '--at', '9'],
    );
    expect(newest).toMatchObject({ code: 0, stderr: '' });
    expect(jsonOf(newest)).toEqual(agentState.initial);
    expect(jsonOf(older)).toMatchObject({
      version: 2,
      by: 'builder',
      why: 'begin',
      event: 'updated',
      value: { next_action: 'Read the log' },
    });
    expect(none).toMatchObject({ code: 3, stdout: '' });
    expect(none.stderr).toContain('There is no version 9 of "agent_state" here.');
  });

  it('history is newest first, one line a version and one a change; hostile text is shown, not obeyed', async () => {
    const [shown, whole, json] = await state(
      ['history', 'agent_state'],
      ['history', 'task_board', '--limit', '1'],
      ['history', 'agent_state', '--limit', '1', '--json'],
    );
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).not.toMatch(OBEYED);
    const red = HOSTILE_SHOWN.slice(0, -' 9 2099 forged'.length);
    expect(linesOf(shown)).toEqual([
      '4  TIME  reviewer  updated',
      '     ~ /next_action: ""',
      `3  TIME  ${HOSTILE_SHOWN}  updated: ${HOSTILE_SHOWN}`,
      `     ~ /next_action: "${red}\\n9 2099 forged"`,
      '2  TIME  builder  updated: begin',
      '     ~ /next_action: "Read the log"',
      '1  TIME  rekindle  created',
      '',
    ]);
    // Recorded as a whole, because that is shorter: what changed is shown all the same.
    expect(whole.stdout).toMatch(/^2 {2}\S+ {2}human {2}updated\n {5}\+ \/tasks\/0: \{"id":"T-001",.*\}\n$/);
    expect(jsonOf(json)).toMatchObject({ name: 'agent_state', events: [{ version: 4, by: 'reviewer' }] });
  });

  it('diff shows what changed between two versions', async () => {
    const [shown, json] = await state(
      ['diff', 'agent_state', '1', '2'],
      ['diff', 'agent_state', '4', '1', '--json'],
    );
    expect(shown).toEqual({ code: 0, stdout: '~ /next_action: "Read the log"\n', stderr: '' });
    expect(jsonOf(json)).toEqual({ name: 'agent_state', changes: [] });
  });

  it('validate exits with 0 for a file that is fine, else with 1, and names line and column', async () => {
    const [good, bad, json, alone, none] = await state(
      ['validate', 'agent_state'],
      ['validate', 'task_board'],
      ['validate', 'task_board', '--json'],
      ['validate', 'agent_state.alone'],
      ['validate', 'task_board.other'],
    );
    expect(good).toEqual({ code: 0, stdout: 'state/agent_state.json is valid.\n', stderr: '' });
    expect(bad).toEqual({ code: 1, stdout: 'line 3, column 12: /tasks must be array\n', stderr: '' });
    expect(json.code).toBe(1);
    expect(jsonOf(json)).toEqual({
      name: 'task_board',
      valid: false,
      pending: null,
      problems: [
        { path: '/tasks', rule: 'type', message: 'must be array', value: 'none', line: 3, column: 12 },
      ],
    });
    expect(alone).toMatchObject({ code: 1, stderr: '' });
    expect(alone.stdout).toContain("line 1, column 1: must have required property 'blockers'");
    expect(none).toMatchObject({ code: 3, stdout: '' });
  });

  it('a document that nobody declared is refused, with the names that are known', async () => {
    const [{ code, stderr }] = await state(['show', 'nothing']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'No definition is known for "nothing". Known definitions: agent_state, task_board. (INVALID_ARGUMENT)',
    );
  });

  it('none of them changes a byte, or leaves a file', async () => {
    expect(await entriesBelow(dir)).toEqual(before);
  });
});

describe('state set', { timeout: CLI_TIMEOUT_MS }, () => {
  it('takes JSON, or a text as it stands; an item of a list is replaced', () =>
    inFolder(async (dir) => {
      const storage = new FileStorage(dir);
      const document = await agentStateIn(storage);
      await document.update((draft) => void draft.blockers.push('first', 'second'));
      await document.close();
      const set = (...args: string[]) => runCli(['state', 'set', 'agent_state', ...args, '-d', dir]);
      const results = await Promise.all([
        set('/next_action', 'Look at {the} test', '--by', 'human', '--why', 'it fails', '--json'),
        set('/blockers/0', 'changed'),
        set('/assumptions/-', '"12"'),
        set('/touched_files', '["a.ts"]'),
        set('/last_human_touch', 'null'), // it is null: nothing to change
      ]);
      expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        results.map(() => ({ code: 0, stderr: '' })),
      );
      expect(results[1]!.stdout).toMatch(/^agent_state is at version \d\.\n$/);
      expect(jsonOf(results[0]!)).toMatchObject({ by: 'human', why: 'it fails', event: 'updated' });
      expect(await eventsIn(storage)).toHaveLength(6);
      expect(JSON.parse(await fs.readFile(path.join(dir, 'state', 'agent_state.json'), 'utf8'))).toEqual(
        expect.objectContaining({
          next_action: 'Look at {the} test',
          blockers: ['changed', 'second'],
          assumptions: ['12'],
          touched_files: ['a.ts'],
          last_human_touch: null,
        }),
      );
      await storage.close();
    }));

  it('changes nothing for a place that is none (2), a value that is refused (6), a document that is none (3)', () =>
    inFolder(async (dir) => {
      const storage = new FileStorage(dir);
      await (await agentStateIn(storage)).close();
      const before = await leftByWriting(dir);
      const [place, slash, value, whole, none] = await batchOf('state', dir)(
        ['set', 'agent_state', '/no/such', 'x'],
        ['set', 'agent_state', 'next_action', 'x', '--json'],
        ['set', 'agent_state', '/active_task_id', 'T-1'],
        ['set', 'agent_state', '', 'null'],
        ['set', 'task_board', '/tasks', '[]'],
      );
      expect(place).toMatchObject({ code: 2, stdout: '' });
      expect(place.stderr).toContain('There is no place "/no/such" in the document. (INVALID_ARGUMENT)');
      expect(slash.code).toBe(2);
      expect(jsonOf(slash)).toMatchObject({ error: { details: { pointer: 'next_action' } } });
      expect(value).toMatchObject({ code: 6, stdout: '' });
      expect(value.stderr).toContain('agent_state is refused: /active_task_id must match pattern');
      expect(whole).toMatchObject({ code: 2, stdout: '' });
      expect(whole.stderr).toContain('The whole document must be a JSON object.');
      expect(none).toMatchObject({ code: 3, stdout: '' });
      expect(await leftByWriting(dir)).toEqual(before);
      await storage.close();
    }));
});

describe('an edit that is refused', { timeout: CLI_TIMEOUT_MS }, () => {
  it('keeps others from writing, until discard-edit moves it aside', () =>
    inFolder(async (dir) => {
      const storage = new FileStorage(dir);
      await boardIn(storage);
      await edit(dir, 'task_board', BAD_BOARD);
      const [set, discarded, none] = await batchOf('state', dir)(
        ['set', 'task_board', '/tasks', '[]'],
        ['discard-edit', 'task_board', '--json'],
        ['discard-edit', 'task_board'],
      );
      expect(set).toMatchObject({ code: 4, stdout: '' });
      expect(set.stderr).toContain('line 3, column 12: /tasks must be array');
      const { aside } = jsonOf(discarded) as { aside: string };
      expect(await fs.readFile(path.join(dir, 'state', aside), 'utf8')).toBe(BAD_BOARD);
      expect(JSON.parse(await fs.readFile(path.join(dir, 'state', 'task_board.json'), 'utf8'))).toEqual(
        expect.objectContaining({ tasks: [expect.objectContaining({ id: 'T-001' })] }),
      );
      expect(none).toEqual({ code: 0, stdout: 'There is no refused edit.\n', stderr: '' });
      await storage.close();
    }));
});

describe('definitions', { timeout: CLI_TIMEOUT_MS }, () => {
  it('a file that throws, or exports nothing, gives 2, and its name', () =>
    inFolder(async (cwd) => {
      const files = { throws: `throw new TypeError('on purpose');`, exportless: 'export const name = 1;' };
      for (const [name, text] of Object.entries(files)) {
        await fs.mkdir(path.join(cwd, name));
        await fs.writeFile(path.join(cwd, name, `${name}.state.mjs`), text);
      }
      const [throws, exportless, nowhere] = await runCliBatch(
        [
          ['state', 'list', '--definitions', 'throws'],
          ['migrate', '--definitions', 'exportless', '--json'],
          ['state', 'list', '--definitions', 'nowhere'],
        ],
        { cwd },
      );
      expect(throws).toMatchObject({ code: 2, stdout: '' });
      const file = (name: string) => path.join(cwd, name, `${name}.state.mjs`);
      expect(throws.stderr).toContain(`${file('throws')} cannot be used: on purpose (INVALID_ARGUMENT)`);
      expect(exportless).toMatchObject({ code: 2, stderr: '' });
      expect(jsonOf(exportless)).toMatchObject({
        error: {
          message: `${file('exportless')} cannot be used: its default export is not a definition`,
          details: { file: file('exportless') },
        },
      });
      expect(nowhere).toMatchObject({ code: 2, stdout: '' });
      expect(nowhere.stderr).toContain(`${path.join(cwd, 'nowhere')} cannot be listed.`);
    }));

  it('of the current folder are run by no command that only looks, unless they are named', () =>
    inFolder(async (cwd) => {
      const marker = path.join(cwd, 'loaded');
      const folder = path.join(cwd, 'rekindle');
      await fs.mkdir(folder);
      const evil = `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(marker)}, '');`;
      const names = ['agent_state', 'evil'];
      for (const name of names) {
        const text = `${evil} export default { name: '${name}', schema: {}, migrations: [] };`;
        await fs.writeFile(path.join(folder, `${name}.state.mjs`), text);
        await edit(path.join(cwd, 'memory'), name, '{"schema_version":1}');
      }
      const [list, json, dry, ...others] = await runCliBatch(
        [
          ['state', 'list'],
          ['state', 'list', '--json'],
          ['migrate', '--dry-run'],
          ['state', 'show', 'evil'],
          ['state', 'history', 'agent_state'],
          ['state', 'diff', 'evil', '1', '2'],
          ['state', 'validate', 'evil'],
        ],
        { cwd },
      );
      const files = 'rekindle/agent_state.state.mjs, rekindle/evil.state.mjs';
      expect(
        rowsOf(list)
          .slice(1)
          .map((row) => row.at(-1)),
      ).toEqual(['no definition', 'no definition']);
      for (const { stdout } of [list, dry])
        expect(stdout).toContain(`${files}. To execute them: --definitions rekindle\n`);
      expect(jsonOf(json)).toMatchObject({ notRun: names });
      expect(dry.stdout).toContain('evil: no definition found. Not changed.\n');
      for (const { code, stderr } of others) {
        expect(code).toBe(2);
        expect(stderr).toContain('To execute them: --definitions rekindle');
      }
      await expect(fs.access(marker)).rejects.toThrow('ENOENT');
      await runCli(['state', 'list', '--definitions', 'rekindle'], { cwd });
      await fs.access(marker);
    }));

  it('nothing is ever loaded from the folder of the data', () =>
    inFolder(async (cwd) => {
      const dir = path.join(cwd, 'memory');
      const marker = path.join(cwd, 'loaded');
      for (const folder of ['.', 'state', 'rekindle', 'state/rekindle']) {
        await fs.mkdir(path.join(dir, folder), { recursive: true });
        const text = `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(marker)}, '');`;
        await fs.writeFile(path.join(dir, folder, 'evil.state.mjs'), text);
      }
      await edit(dir, 'evil', '{"schema_version":1}');
      const [list, migrate] = await runCliBatch([['state', 'list'], ['migrate']], { cwd });
      expect(rowsOf(list)[1]).toEqual(['evil', '-', '-', '-', '-', 'no definition']);
      expect(migrate.stdout).toBe('evil: no definition found. Not changed.\n');
      await expect(fs.access(marker)).rejects.toThrow('ENOENT');
    }));
});
