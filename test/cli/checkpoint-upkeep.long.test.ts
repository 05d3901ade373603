/** `checkpoint`: what keeps checkpoints in order: marks, sizes, retention, checks, keys. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import type { JsonObject } from '../../src/core/json.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { batchOf, jsonOf, linesOf, rowsOf } from './cli-batch.js';
import { CLI_TIMEOUT_MS, entriesBelow, inFolder, runCli } from './cli-fixture.js';

/** Sessions with as many checkpoints as are said. */
async function fill(
  dir: string,
  sessions: Readonly<Record<string, number>>,
  context: JsonObject = {},
): Promise<void> {
  const storage = new FileStorage(dir, { durability: 'relaxed' });
  const service = new CheckpointService({ backend: storage });
  for (const [sessionId, count] of Object.entries(sessions))
    for (let n = 1; n <= count; n += 1) await service.save({ sessionId, context: { ...context, n } });
  await service.close();
  await storage.close();
}

function journalOf(dir: string, session: string): string {
  return path.join(dir, 'checkpoints', 'sessions', session, 'checkpoints.jsonl');
}

/** The files that hold the data of a session. */
async function packsOf(dir: string, session: string): Promise<string[]> {
  const folder = path.join(dir, 'checkpoints', 'sessions', session, 'packs');
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

describe('checkpoint sessions', { timeout: CLI_TIMEOUT_MS }, () => {
  it('shows each with its checkpoints and bytes, the last used first; and says where there are none', () =>
    inFolder(async (dir) => {
      const checkpoint = batchOf('checkpoint', dir);
      const [none] = await checkpoint(['sessions']);
      expect(none).toMatchObject({ code: 0, stdout: expect.stringMatching(/^There are no checkpoints in /) });
      await fill(dir, { one: 1, two: 2 });
      const [shown, json] = await checkpoint(['sessions'], ['sessions', '--json']);
      expect(rowsOf(shown).map((row) => [row[0], row[1], row[3]])).toEqual([
        ['session', 'checkpoints', 'last used'],
        ['two', '2', 'TIME'],
        ['one', '1', 'TIME'],
      ]);
      expect(shown.stdout).toMatch(/\d+ bytes of 1,073,741,824 bytes used in /);
      expect(jsonOf(json)).toMatchObject({
        sessions: [{ id: 'two' }, { id: 'one' }],
        stats: { sessions: 2, checkpoints: 3 },
      });
    }));
});

describe('checkpoint mark and delete', { timeout: CLI_TIMEOUT_MS }, () => {
  it('keep a key in views, keep a checkpoint from retention, and take one away', () =>
    inFolder(async (dir) => {
      await fill(dir, { s: 2 }, { debug: 'x'.repeat(900) });
      const [key, one, json, gone, again, list, view] = await batchOf('checkpoint', dir)(
        ['mark', 's', 'debug'],
        ['mark', 's@1'],
        ['mark', 's@1', '--json'],
        ['delete', 's@2', '--json'],
        ['delete', 's@2'],
        ['list', 's', '--json'],
        ['load', 's', '--budget', '20', '--json'],
      );
      expect(key).toEqual({ code: 0, stdout: 'No view of s will drop debug.\n', stderr: '' });
      expect(one).toEqual({ code: 0, stdout: 'Retention will never remove s@1.\n', stderr: '' });
      expect(jsonOf(json)).toEqual({ checkpointId: 's@1', critical: true });
      expect(jsonOf(gone)).toEqual({ id: 's@2' });
      expect(again).toMatchObject({ code: 3, stderr: expect.stringContaining('(CHECKPOINT_NOT_FOUND)') });
      expect(jsonOf(list)).toMatchObject({ total: 1, checkpoints: [{ id: 's@1', critical: true }] });
      expect(jsonOf(view)).toMatchObject({ context: { debug: 'x'.repeat(900) } });
    }));
});

describe('checkpoint archive', { timeout: CLI_TIMEOUT_MS }, () => {
  it('takes a checkpoint out of the lists, until that is undone', () =>
    inFolder(async (dir) => {
      await fill(dir, { s: 2 });
      const [done, list, archived, loaded, undone, again, none] = await batchOf('checkpoint', dir)(
        ['archive', 's@2'],
        ['list', 's', '--json'],
        ['list', '--status', 'archived'],
        ['load', 's@2', '--json'],
        ['archive', 's@2', '--undo', '--json'],
        ['list', 's', '--json'],
        ['list', '--status', 'old'],
      );
      expect(done).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^Archived s@2\./) });
      expect(jsonOf(list)).toMatchObject({ total: 1, checkpoints: [{ id: 's@1' }] });
      expect(rowsOf(archived).slice(1)).toEqual([expect.arrayContaining(['s@2', 'archived'])]);
      expect(jsonOf(loaded)).toHaveProperty('n');
      expect(jsonOf(undone)).toEqual({ id: 's@2', archived: false });
      expect(jsonOf(again)).toMatchObject({ total: 2 });
      expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('status is refused') });
    }));
});

describe('checkpoint prune', { timeout: CLI_TIMEOUT_MS }, () => {
  it('with --dry-run says what would go, and changes nothing', () =>
    inFolder(async (dir) => {
      await fill(dir, { trip: 3 });
      const before = await entriesBelow(dir);
      const [dry, json] = await batchOf('checkpoint', dir)(
        ['prune', '--dry-run', '--max-checkpoints', '1'],
        ['prune', '--dry-run', '--max-checkpoints', '2', '--json'],
      );
      expect(dry).toMatchObject({ code: 0, stderr: '' });
      expect(linesOf(dry).slice(0, 2)).toEqual([
        'Would remove trip@1 (count), saved TIME.',
        'Would remove trip@2 (count), saved TIME.',
      ]);
      expect(dry.stdout).not.toContain('Removed');
      expect(jsonOf(json)).toMatchObject({
        dryRun: true,
        removed: [{ checkpoint: { id: 'trip@1' }, why: 'count' }],
        problems: [],
      });
      expect(await entriesBelow(dir)).toEqual(before);
    }));

  it('takes away what is too much, and its data after the grace time; never what is critical or the newest', () =>
    inFolder(async (dir) => {
      await fill(dir, { trip: 4, other: 2 });
      const [, pruned, data, list, none] = await batchOf('checkpoint', dir)(
        ['mark', 'trip@1'],
        ['prune', '--max-checkpoints', '1', '--session', 'trip'],
        ['prune', '--grace-minutes', '0', '--json'],
        ['list', '--json'],
        ['prune'],
      );
      expect(linesOf(pruned).slice(0, 2)).toEqual([
        'Removed trip@2 (count), saved TIME.',
        'Removed trip@3 (count), saved TIME.',
      ]);
      expect(jsonOf(data)).toMatchObject({ removed: [], orphans: { blobs: 2 } });
      const left = (jsonOf(list)['checkpoints'] as { id: string }[]).map(({ id }) => id);
      expect(left.sort()).toEqual(['other@1', 'other@2', 'trip@1', 'trip@4']);
      expect(linesOf(none)[0]).toBe('Nothing to prune.');
      expect(await packsOf(dir, 'trip')).toHaveLength(2);
    }));

  it('refuses figures that are none', () =>
    inFolder(async (dir) => {
      const results = await batchOf('checkpoint', dir)(
        ['prune', '--max-age-days', 'x'],
        ['prune', '--max-checkpoints', '0'],
        ['prune', '--grace-minutes', '-1'],
      );
      expect(results.map(({ code, stdout }) => [code, stdout])).toEqual(results.map(() => [2, '']));
      expect(results[0].stderr).toContain('--max-age-days must be a number above 0, not "x".');
    }));
});

describe('checkpoint verify', { timeout: CLI_TIMEOUT_MS }, () => {
  it('says ok and 0 where all is well, and names with 1 what is not', () =>
    inFolder(async (dir) => {
      await fill(dir, { one: 1, two: 1 });
      const checkpoint = batchOf('checkpoint', dir);
      const [well] = await checkpoint(['verify']);
      expect(well).toMatchObject({ code: 0, stderr: '' });
      expect(well.stdout).toMatch(/^ok {5}2 checkpoints in 2 sessions; /);
      const [pack] = await packsOf(dir, 'two');
      const bytes = await fs.readFile(pack!);
      await fs.writeFile(pack!, bytes.fill(0x78, 0, 1));
      const [bad, json, one, loaded] = await checkpoint(
        ['verify'],
        ['verify', '--json'],
        ['verify', '--session', 'one'],
        ['load', 'two'],
      );
      expect(bad).toMatchObject({ code: 1, stderr: '' });
      expect(bad.stdout).toMatch(
        /^NOT OK 2 checkpoints in 2 sessions; .*\n {8}two@1: .*\(CHECKPOINT_DAMAGED\)\n$/,
      );
      expect(json.code).toBe(1);
      expect(jsonOf(json)).toMatchObject({
        ok: false,
        problems: [{ sessionId: 'two', checkpointId: 'two@1', code: 'CHECKPOINT_DAMAGED' }],
      });
      expect(one).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^ok {5}1 checkpoint in 1 session; /),
      });
      expect(loaded).toMatchObject({ code: 5, stdout: '' });
    }));

  it('with the heads of an earlier run finds that a session was put back, or taken away', () =>
    inFolder(async (dir) => {
      await fill(dir, { one: 2, two: 1 });
      const checkpoint = batchOf('checkpoint', dir);
      const [written, same] = await checkpoint(
        ['verify', '--write-heads', 'heads.json'],
        ['verify', '--heads', 'heads.json'],
      );
      expect([written.code, same.code]).toEqual([0, 0]);
      await fill(dir, { one: 3 });
      const [later] = await checkpoint(['verify', '--heads', 'heads.json']);
      expect(later.code).toBe(0);
      const journal = journalOf(dir, 'one');
      const lines = (await fs.readFile(journal, 'utf8')).split('\n');
      await fs.writeFile(journal, `${lines[0]}\n`);
      await fs.rm(path.dirname(journalOf(dir, 'two')), { recursive: true });
      const [without, withHeads] = await checkpoint(['verify'], ['verify', '--heads', 'heads.json']);
      expect(without.code).toBe(0);
      expect(withHeads).toMatchObject({ code: 1, stderr: '' });
      const found = linesOf(withHeads).slice(1, -1);
      expect(found.map((line) => line.trim().split(':')[0])).toEqual(['one', 'two']);
    }));

  it('refuses a file that holds no heads, and never writes heads over another file', () =>
    inFolder(async (dir) => {
      await fill(dir, { one: 1 });
      await fs.writeFile(path.join(dir, 'notes.json'), '{"a": 1}');
      const [bad, taken] = await batchOf('checkpoint', dir)(
        ['verify', '--heads', 'notes.json'],
        ['verify', '--write-heads', 'notes.json'],
      );
      expect(bad).toMatchObject({ code: 2, stdout: '' });
      expect(bad.stderr).toContain('notes.json does not contain heads');
      expect(taken.code).toBe(2);
      expect(await fs.readFile(path.join(dir, 'notes.json'), 'utf8')).toBe('{"a": 1}');
    }));
});

describe('an encrypted store', { timeout: CLI_TIMEOUT_MS }, () => {
  const OTHER = `${JSON.stringify({ encryption: { enabled: true, keyFile: 'other.json' } })}\n`;

  /** As a person switches it on: in the file beside the checkpoints. The key is in `master.json`, in the current folder. */
  async function encrypted(dir: string) {
    const config = path.join(dir, 'checkpoints', 'config', 'checkpoints.json');
    await fs.mkdir(path.dirname(config), { recursive: true });
    await fs.writeFile(config, OTHER.replace('other', 'master'));
    await fs.writeFile(path.join(dir, 'a.json'), '{"word": "xylophone"}');
    const checkpoint = batchOf('checkpoint', dir);
    const [saved] = await checkpoint(['save', 'a.json', '--session', 's']);
    expect(saved).toMatchObject({ code: 0, stdout: expect.stringContaining('Saved s@1') });
    await fs.rm(path.join(dir, 'a.json'));
    return { checkpoint, config };
  }

  it('has no word of the context on disk, and the list says that it is encrypted', () =>
    inFolder(async (dir) => {
      const { checkpoint } = await encrypted(dir);
      expect((await fs.stat(path.join(dir, 'master.json'))).mode & 0o777).toBe(0o600);
      for (const [name, bytes] of await entriesBelow(dir))
        expect(bytes.includes('xylophone'), name).toBe(false);
      const [loaded, listed] = await checkpoint(['load', 's'], ['list']);
      expect(jsonOf(loaded)).toEqual({ word: 'xylophone' });
      expect(rowsOf(listed)[1]?.[6]).toBe('encrypted');
    }));

  it('rotate-key wraps the keys of REKINDLE_KEY_FILE anew; the old master key reads nothing any more', () =>
    inFolder(async (dir) => {
      const { checkpoint, config } = await encrypted(dir);
      await fs.copyFile(path.join(dir, 'master.json'), path.join(dir, 'other.json'));
      await fs.writeFile(config, '{ "encryption": { "enabled": true } }\n');
      const env = { REKINDLE_KEY_FILE: path.join(dir, 'master.json') };
      const rotated = await runCli(['checkpoint', 'rotate-key', '-d', dir], { env });
      expect(rotated).toMatchObject({ code: 0, stderr: '' });
      expect(rotated.stdout).toMatch(/^Master key [0-9a-f]+: 1 key of 1 session rewrapped\.\n$/);
      await fs.writeFile(config, OTHER);
      expect(await checkpoint(['load', 's'])).toMatchObject([{ code: 6, stdout: '' }]);
      await fs.writeFile(config, OTHER.replace('other', 'master'));
      const [loaded] = await checkpoint(['load', 's']);
      expect(jsonOf(loaded)).toEqual({ word: 'xylophone' });
    }));

  it('with a key that is not the right one is KEY_UNAVAILABLE (6), and nothing changes', () =>
    inFolder(async (dir) => {
      const { checkpoint, config } = await encrypted(dir);
      await fs.writeFile(config, OTHER);
      await fs.writeFile(path.join(dir, 'b.json'), '{"n": 2}');
      const before = await entriesBelow(dir);
      const [verified, ...refused] = await checkpoint(
        ['verify', '--json'],
        ['load', 's'],
        ['save', 'b.json', '--session', 's'],
        ['save', 'b.json', '--session', 'new'],
      );
      for (const result of refused) {
        expect(result).toMatchObject({ code: 6, stdout: '' });
        expect(result.stderr).toContain('(KEY_UNAVAILABLE)');
      }
      expect(verified.code).toBe(1);
      expect(jsonOf(verified)).toMatchObject({ ok: false, problems: [{ code: 'KEY_UNAVAILABLE' }] });
      const lasting = (entries: Map<string, string>) =>
        [...entries].filter(([name, bytes]) => !name.includes('lease') && bytes !== '(folder)');
      expect(lasting(await entriesBelow(dir))).toEqual(lasting(before));
    }));

  it('whose configuration is wrong is refused with 6, with its line and column', () =>
    inFolder(async (dir) => {
      const { checkpoint, config } = await encrypted(dir);
      await fs.writeFile(config, '{\n  "encryption": { "enabld": true }\n}\n');
      const [loaded] = await checkpoint(['load', 's']);
      expect(loaded).toMatchObject({ code: 6, stdout: '' });
      expect(loaded.stderr).toContain('(line 2, column 17): must not have the key "enabld"');
    }));

  it('is not there without a key: rotate-key says so, and does nothing', () =>
    inFolder(async (dir) => {
      await fill(dir, { plain: 1 });
      const env = { REKINDLE_KEY_FILE: path.join(dir, 'keys.json') };
      const rotated = await runCli(['checkpoint', 'rotate-key', '-d', dir], { env });
      expect(rotated).toMatchObject({
        code: 0,
        stdout: 'Nothing to do: no session is encrypted, and there is no master key.\n',
      });
      expect(await fs.readdir(dir)).toEqual(['checkpoints']);
    }));
});
