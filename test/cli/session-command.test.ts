/** `session`: makes and lists the sessions that share state. */
import { describe, expect, it } from 'vitest';
import { batchOf, HOSTILE, jsonOf, OBEYED, rowsOf } from './cli-batch.js';
import { CLI_TIMEOUT_MS, inFolder } from './cli-fixture.js';

describe('session', { timeout: CLI_TIMEOUT_MS }, () => {
  it('create makes a root or a child, and list shows them', () =>
    inFolder(async (dir) => {
      const [empty, root, child, other, unnamed, listed, ofRoot] = await batchOf('session', dir)(
        ['list'],
        ['create', 'root'],
        ['create', 'child-1', '--parent', 'root', '--agent', 'ann'],
        ['create', 'other'],
        ['create', '--json'],
        ['list'],
        ['list', '--root', 'root', '--json'],
      );
      expect(empty.stdout).toContain('rekindle session create');
      expect(root).toMatchObject({ code: 0, stdout: 'Created session root, with its own state.\n' });
      expect(child.stdout).toBe('Created session child-1, with the state of root.\n');
      expect(other.code).toBe(0);
      const { id } = jsonOf(unnamed);
      expect(rowsOf(listed).map((row) => row.slice(0, 5))).toEqual([
        ['session', 'parent', 'root', 'agent', 'status'],
        ['root', '-', 'root', '-', 'pending'],
        ['child-1', 'root', 'root', 'ann', 'pending'],
        ['other', '-', 'other', '-', 'pending'],
        [id, '-', id, '-', 'pending'],
      ]);
      expect(jsonOf(ofRoot)).toMatchObject({ sessions: [{ id: 'root' }, { id: 'child-1', parent: 'root' }] });
    }));

  it('create refuses a session that is there, a parent that is not, and an id that cannot be', () =>
    inFolder(async (dir) => {
      const [, again, orphan, odd, listed] = await batchOf('session', dir)(
        ['create', 'root'],
        ['create', 'root'],
        ['create', 'child', '--parent', 'nobody'],
        ['create', HOSTILE],
        ['list', '--json'],
      );
      expect([again.code, orphan.code, odd.code]).toEqual([6, 3, 2]);
      expect(again.stderr).toContain('SESSION_EXISTS');
      expect(orphan.stderr).toContain('There is no session "nobody".');
      expect(odd.stderr).not.toMatch(OBEYED);
      expect(jsonOf(listed)).toMatchObject({ sessions: [{ id: 'root' }] });
    }));
});
