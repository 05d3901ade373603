/** `workspace plan`: the current plan and the archive. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { batchOf, HOSTILE, jsonOf, OBEYED, rowsOf } from './cli-batch.js';
import { CLI_TIMEOUT_MS, inFolder } from './cli-fixture.js';

describe('workspace plan', { timeout: CLI_TIMEOUT_MS }, () => {
  it('write replaces the current plan, archive ends it, and list and show find both', () =>
    inFolder(async (dir) => {
      await writeFile(path.join(dir, 'one.md'), '# First\n\n- build\n');
      await writeFile(path.join(dir, 'two.md'), `# ${HOSTILE}\n`);
      const plan = batchOf('workspace', dir);
      const [none, first, second, listed] = await plan(
        ['plan', 'list'],
        ['plan', 'write', 'one.md'],
        ['plan', 'write', 'two.md', '--json'],
        ['plan', 'list'],
      );
      expect(none.stdout).toContain('rekindle workspace plan write FILE');
      expect(first).toMatchObject({ code: 0, stdout: 'The current plan is written.\n' });
      const archived = String(jsonOf(second)['archived']);
      expect(rowsOf(listed).map(([, status]) => status)).toEqual(['status', 'archived', 'current']);
      expect(listed.stdout).not.toMatch(OBEYED);
      const [old, current, ended, absent, again] = await plan(
        ['plan', 'show', archived],
        ['plan', 'show'],
        ['plan', 'archive', '--label', 'release 42'],
        ['plan', 'show'],
        ['plan', 'list', '--json'],
      );
      expect(old.stdout).toBe('# First\n\n- build\n');
      expect(current.stdout).not.toMatch(OBEYED);
      expect(ended.stdout).toContain('_release_42.md.');
      expect(absent).toMatchObject({ code: 3 });
      expect(jsonOf(again)).toMatchObject({
        current: false,
        archived: [archived, expect.stringContaining('42')],
      });
    }));

  it('refuses a file that is not text, one that is missing, a label that cannot be, and a name that is unknown', () =>
    inFolder(async (dir) => {
      await writeFile(path.join(dir, 'latin.md'), Buffer.from('Gr\xfc\xdfe', 'latin1'));
      await writeFile(path.join(dir, 'one.md'), 'one');
      const [latin, missing, , label, name, shown] = await batchOf('workspace', dir)(
        ['plan', 'write', 'latin.md'],
        ['plan', 'write', 'missing.md'],
        ['plan', 'write', 'one.md'],
        ['plan', 'archive', '--label', 'a/b'],
        ['plan', 'show', 'missing.md'],
        ['plan', 'show', '--json'],
      );
      expect([latin.code, missing.code, label.code, name.code]).toEqual([2, 2, 2, 3]);
      expect(latin.stderr).toContain('latin.md is not text in UTF-8.');
      expect(jsonOf(shown)).toEqual({ name: null, text: 'one' });
    }));
});
