/** `session`: makes and lists the sessions that share state. */
import { describe, expect, it } from 'vitest';
import { batchOf, HOSTILE, HOSTILE_SHOWN, jsonOf, linesOf, OBEYED, rowsOf } from './cli-batch.js';
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

  it('tree shows a root or all of them, with children, status, agent and times, and marks orphans', () =>
    inFolder(async (dir) => {
      const session = batchOf('session', dir);
      await session(
        ['create', 'root', '--agent', 'lead'],
        ['create', 'child', '--parent', 'root', '--agent', 'ann'],
        ['create', 'other'],
        ['create', 'grandchild', '--parent', 'child'],
        ['create', 'sibling', '--parent', 'root'],
        ['status', 'child', '--set', 'failed', '--why', HOSTILE],
      );
      const [all, below, json, nobody] = await session(
        ['tree'],
        ['tree', 'child'],
        ['tree', 'root', '--json'],
        ['tree', 'nobody'],
      );
      expect(linesOf(all)).toEqual([
        'root  pending  agent lead  created TIME  updated TIME',
        `  child  failed  agent ann  created TIME  updated TIME  ${HOSTILE_SHOWN}`,
        '    grandchild  pending  created TIME  updated TIME  orphan: child has ended',
        '  sibling  pending  created TIME  updated TIME',
        'other  pending  created TIME  updated TIME',
        '',
      ]);
      expect(linesOf(below).map((line) => line.split('  pending')[0]!.split('  failed')[0])).toEqual([
        'child',
        '  grandchild',
        '',
      ]);
      expect(jsonOf(json)).toMatchObject({
        sessions: [
          { id: 'root', depth: 0, orphan: null },
          { id: 'child', depth: 1, orphan: null },
          { id: 'grandchild', depth: 2, orphan: { reason: 'parent_ended', ancestor: 'child' } },
          { id: 'sibling', depth: 1, orphan: null },
        ],
      });
      expect(nobody.code).toBe(3);
    }));

  it('status shows a session, sets a possible status, and refuses the others', () =>
    inFolder(async (dir) => {
      const [, shown, set, early, unknown, alone, after] = await batchOf('session', dir)(
        ['create', 'root', '--agent', 'lead'],
        ['status', 'root'],
        ['status', 'root', '--set', 'running', '--why', 'work came'],
        ['status', 'root', '--set', 'pending'],
        ['status', 'root', '--set', 'asleep'],
        ['status', 'root', '--why', 'no reason'],
        ['status', 'root', '--json'],
      );
      expect(linesOf(shown)).toEqual([
        'root is pending',
        '  parent:  none: it is a root',
        '  root:    root',
        '  agent:   lead',
        '  created: TIME',
        '  updated: TIME',
        '',
      ]);
      expect(set.stdout).toContain('root is running: work came\n');
      expect([early.code, unknown.code, alone.code]).toEqual([6, 2, 2]);
      expect(early.stderr).toContain(
        'it can become idle, stopping, finished, stopped, failed, but not pending',
      );
      expect(jsonOf(after)).toMatchObject({ id: 'root', status: 'running', why: 'work came' });
    }));
});
