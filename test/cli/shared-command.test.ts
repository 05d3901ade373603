/** `shared`: the state of a root session, for people. */
import { once } from 'node:events';
import os from 'node:os';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { SharedSessions } from '../../src/state/shared/shared-sessions.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { batchOf, HOSTILE, jsonOf, linesOf, OBEYED, rowsOf } from './cli-batch.js';
import {
  CLI_TIMEOUT_MS,
  inFolder,
  removeFolder,
  resultOf,
  runCli,
  startCli,
  tempFolder,
} from './cli-fixture.js';

const PERSON = `user:${os.userInfo().username}@${os.hostname()}`;

async function withShared(dir: string, use: (shared: SharedSessions) => Promise<unknown>): Promise<void> {
  const storage = new FileStorage(dir, { durability: 'relaxed' });
  const shared = new SharedSessions(storage);
  await use(shared);
  await shared.close();
  await storage.close();
}

/** A root with a child, and three keys. */
async function family(shared: SharedSessions): Promise<void> {
  await shared.tree.create({ id: 'root' });
  await shared.tree.create({ id: 'child', parent: 'root' });
  const state = await shared.stateOf('root');
  await state.set('plan', { steps: ['a'] }, { by: 'root' });
  await state.increment('done', 1, { by: 'child' });
  await state.increment('done', 2, { by: 'child' });
  await state.set('odd', HOSTILE, { by: 'root' });
}

describe('shared', { timeout: CLI_TIMEOUT_MS }, () => {
  let dir: string;
  let shared: ReturnType<typeof batchOf>;
  beforeAll(async () => {
    dir = await tempFolder();
    shared = batchOf('shared', dir);
    await withShared(dir, family);
  });
  afterAll(() => removeFolder(dir));

  it('get shows one key, all keys, keys with a prefix, and an earlier version', async () => {
    const [one, all, some, past, absent, nobody] = await shared(
      ['get', 'child', 'plan'],
      ['get', 'root'],
      ['get', 'root', '--prefix', 'do', '--json'],
      ['get', 'root', 'done', '--at', '2', '--json'],
      ['get', 'root', 'nothing'],
      ['get', 'nobody'],
    );
    expect(JSON.parse(one.stdout)).toEqual({ steps: ['a'] });
    expect(rowsOf(all)).toEqual([
      ['key', 'version', 'by', 'at', 'value'],
      ['done', '2', 'child', 'TIME', '3'],
      ['odd', '1', 'root', 'TIME', expect.stringContaining('red\\u001b[31m')],
      ['plan', '1', 'root', 'TIME', '{"steps":["a"]}'],
    ]);
    expect(all.stdout).not.toMatch(OBEYED);
    expect(jsonOf(some)).toMatchObject({ root: 'root', globalVersion: 4, keys: [{ key: 'done', value: 3 }] });
    expect(jsonOf(past)).toMatchObject({ key: 'done', value: 1, version: 1 });
    expect([absent.code, nobody.code]).toEqual([3, 3]);
    expect(absent.stderr).toContain('The key "nothing" has no value.');
  });

  it('history lists the changes of all keys, newest first, by key and by session', async () => {
    const [all, ofKey, ofSession, newest] = await shared(
      ['history', 'root'],
      ['history', 'child', '--key', 'done', '--json'],
      ['history', 'root', '--session', 'child', '--json'],
      ['history', 'root', '--limit', '1'],
    );
    expect(linesOf(all).map((line) => line.split('  ').slice(0, 5))).toEqual([
      ['4', 'TIME', 'root', 'set', 'odd'],
      ['3', 'TIME', 'child', 'increment', 'done'],
      ['2', 'TIME', 'child', 'increment', 'done'],
      ['1', 'TIME', 'root', 'set', 'plan'],
      [''],
    ]);
    expect(all.stdout).not.toMatch(OBEYED);
    const values = (result: typeof all) =>
      (jsonOf(result)['changes'] as JsonObject[]).map(({ value }) => value);
    expect([values(ofKey), values(ofSession)]).toEqual([
      [3, 1],
      [3, 1],
    ]);
    expect(jsonOf(ofKey)).toMatchObject({ complete: true });
    expect(newest.stdout).toContain('Older changes were removed, or are beyond the limit.');
  });
});

describe('shared set', { timeout: CLI_TIMEOUT_MS }, () => {
  it('sets a key at the expected version only, and a conflict names both versions', () =>
    inFolder(async (dir) => {
      await withShared(dir, family);
      const [set, again, conflict, taken, after] = await batchOf('shared', dir)(
        ['set', 'root', 'done', '10', '--if-version', '2'],
        ['set', 'root', 'done', '11', '--if-version', '2', '--json'],
        ['delete', 'root', 'done', '--if-version', '1'],
        ['set', 'root', 'plan', 'x', '--if-version', '0'],
        ['get', 'root', 'done', '--json'],
      );
      expect(set).toMatchObject({ code: 0, stdout: `done is at version 3, set by ${PERSON}.\n` });
      expect([again.code, conflict.code, taken.code]).toEqual([6, 6, 6]);
      expect(jsonOf(again)).toMatchObject({
        error: { code: 'DOCUMENT_CONFLICT', details: { ifVersion: 2, currentVersion: 3, currentValue: 10 } },
      });
      expect(conflict.stderr).toContain(
        '"done" is at version 3, with the value 10. The change needs version 1.',
      );
      expect(taken.stderr).toContain('The change needs a key without a value.');
      expect(jsonOf(after)).toMatchObject({ value: 10, version: 3, updatedBy: PERSON });
    }));

  it('takes JSON or text, from the argument or standard input, and refuses numbers that would be rounded', () =>
    inFolder(async (dir) => {
      await withShared(dir, family);
      const piped = await runCli(['shared', 'set', 'root', 'list', '-d', dir], {
        input: '[1, {"a": null}]\n',
      });
      expect(piped).toMatchObject({ code: 0, stderr: '' });
      const [text, rounded, deleted, absent, all] = await batchOf('shared', dir)(
        ['set', 'root', 'word', 'hello'],
        ['set', 'root', 'id', '{"id": 9007199254740993}'],
        ['delete', 'root', 'plan'],
        ['delete', 'root', 'plan'],
        ['get', 'root', '--json'],
      );
      expect([text.code, rounded.code, deleted.code, absent.code]).toEqual([0, 2, 0, 3]);
      const keys = (jsonOf(all)['keys'] as JsonObject[]).map(({ key, value }) => [key, value]);
      expect(Object.fromEntries(keys)).toEqual({
        done: 3,
        list: [1, { a: null }],
        odd: HOSTILE,
        word: 'hello',
      });
    }));

  it('names the session of the environment as the author, and no variable makes a person another one', () =>
    inFolder(async (dir) => {
      await withShared(dir, async (shared) => {
        await family(shared);
        await shared.tree.create({ id: 'stranger' });
      });
      const set = (value: string, env: Readonly<Record<string, string>>) =>
        runCli(['shared', 'set', 'root', 'k', value, '-d', dir, '--json'], { env });
      const byChild = await set('1', { AGENT_SESSION_ID: 'child' });
      const byPerson = await set('2', { USER: 'boss', LOGNAME: 'boss', USERNAME: 'boss' });
      const byOther = await set('3', { AGENT_SESSION_ID: 'stranger' });
      const byNobody = await set('4', { AGENT_SESSION_ID: 'nobody' });
      expect([jsonOf(byChild)['updatedBy'], jsonOf(byPerson)['updatedBy']]).toEqual(['child', PERSON]);
      expect([byOther.code, byNobody.code]).toEqual([2, 3]);
      const [created] = await batchOf('session', dir)(['create', PERSON]);
      expect(created).toMatchObject({ code: 2 });
      expect(created.stderr).toContain('`user:` begins the name of a person');
    }));

  it('keeps to the limits that are given', () =>
    inFolder(async (dir) => {
      await withShared(dir, family);
      const [refused, many, wrong] = await batchOf('shared', dir)(
        ['set', 'root', 'a', '1', '--state-keys', '3'],
        ['set', 'root', 'a', '1', '--state-keys', '4'],
        ['set', 'root', 'b', '1', '--state-keys', '20001'],
      );
      expect([refused.code, many.code, wrong.code]).toEqual([6, 0, 2]);
      expect(wrong.stderr).toContain('--state-keys must be a whole number from 0 to 20000');
    }));
});

describe('serve', { timeout: CLI_TIMEOUT_MS }, () => {
  it('keeps to the limits of shared state that are given, and refuses those that cannot be', () =>
    inFolder(async (dir) => {
      await withShared(dir, family);
      const [refused] = await batchOf('serve', dir)(['--state-keys', '20001', '--port', '0']);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      const server = startCli(['serve', '--port', '0', '--state-keys', '4', '--json', '-d', dir], {
        env: { REKINDLE_TOKEN: 'a-token-of-this-test' },
      });
      const ended = resultOf(server);
      const [line] = await once(createInterface(server.stdout), 'line');
      const { url } = JSON.parse(String(line)) as { url: string };
      const put = async (key: string) => {
        const answer = await fetch(`${url}/sessions/root/state/keys/${key}`, {
          method: 'PUT',
          headers: { authorization: 'Bearer a-token-of-this-test', 'content-type': 'application/json' },
          body: '{"value": 1}',
        });
        return [answer.status, ((await answer.json()) as JsonObject)['code']];
      };
      expect([await put('fourth'), await put('fifth')]).toEqual([
        [200, undefined],
        [422, 'LIMIT_EXCEEDED'],
      ]);
      server.kill('SIGTERM');
      expect((await ended).code).toBe(0);
    }));
});

describe('shared watch', { timeout: CLI_TIMEOUT_MS }, () => {
  it('prints one line for each change of another process, until it is stopped', () =>
    inFolder(async (dir) => {
      await withShared(dir, async (shared) => {
        await family(shared);
        const child = startCli(['shared', 'watch', 'child', '--prefix', 'd', '--json', '-d', dir]);
        const ended = resultOf(child);
        const lines = createInterface(child.stdout);
        expect(JSON.parse(String((await once(lines, 'line'))[0]))).toEqual({
          type: 'watching',
          root: 'root',
          globalVersion: 4,
        });
        const state = await shared.stateOf('root');
        const last = once(lines, 'line');
        await state.set('other', 1);
        await state.set('due', HOSTILE, { by: 'child' });
        await last;
        child.kill('SIGINT');
        const { code, stdout } = await ended;
        const [, change, ...more] = stdout.split('\n');
        expect(JSON.parse(change!)).toMatchObject({
          ...{ type: 'change', key: 'due', value: HOSTILE, by: 'child', globalVersion: 6 },
        });
        expect([code, more]).toEqual([0, ['']]);
      });
    }));
});
