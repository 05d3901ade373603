/** `token`: makes, lists, revokes and rotates tokens of the server. */
import { describe, expect, it } from 'vitest';
import { TokenBook } from '../../src/server/access/token-book.js';
import { SharedSessions } from '../../src/state/shared/shared-sessions.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { batchOf, jsonOf, rowsOf } from './cli-batch.js';
import { CLI_TIMEOUT_MS, inFolder } from './cli-fixture.js';

describe('token', { timeout: CLI_TIMEOUT_MS }, () => {
  it('create shows a token once, and list shows what each reaches', () =>
    inFolder(async (dir) => {
      const storage = new FileStorage(dir);
      const shared = new SharedSessions(storage);
      await shared.tree.create({ id: 'root' });
      await shared.tree.create({ id: 'child', parent: 'root' });
      const [empty, agent, session, whole, listed] = await batchOf('token', dir)(
        ['list'],
        ['create', '--agent', 'desk', '--agent', 'ann', '--read', '--expires', '30d', '--json'],
        ['create', '--session', 'child'],
        ['create', '--everything', '--expires', '2999-01-31'],
        ['list'],
      );
      expect(empty.stdout).toContain('rekindle token create');
      expect(jsonOf(agent)).toMatchObject({ agents: ['desk', 'ann'], roots: [], mayWrite: false });
      const days = (Date.parse(String(jsonOf(agent)['expiresAt'])) - Date.now()) / 86_400_000;
      expect(days).toBeCloseTo(30, 1);
      expect(session.stdout).toMatch(/^Token: rk_\S+\nIt reads and writes agents: none; root sessions: root/);
      expect(session.stdout).toContain('acts as child');
      expect(whole.stdout).toContain('agents: all; root sessions: all. It ends: 2999-01-31');
      expect(rowsOf(listed).map((row) => row.slice(1, 5))).toEqual([
        ['agents', 'root sessions', 'acts as', 'may'],
        ['desk, ann', 'none', '-', 'read'],
        ['none', 'root', 'child', 'read, write'],
        ['all', 'all', '-', 'read, write'],
      ]);
      const { token } = jsonOf(agent);
      expect(listed.stdout).not.toContain(String(token).slice(16));
      expect(await new TokenBook(storage).principalOf(String(token))).toMatchObject({
        agents: ['desk', 'ann'],
      });
      await shared.close();
      await storage.close();
    }));

  it('rotate and revoke end a token, and refuse one that is not there', () =>
    inFolder(async (dir) => {
      const storage = new FileStorage(dir);
      const { id, token } = await new TokenBook(storage).create({
        ...{ agents: ['desk'], roots: [], session: null, mayWrite: true },
      });
      const [rotated, again] = await batchOf('token', dir)(['rotate', id, '--json'], ['revoke', id]);
      const next = jsonOf(rotated) as { id: string; token: string };
      expect(again).toMatchObject({ code: 3 });
      expect(again.stderr).toContain('TOKEN_NOT_FOUND');
      const [revoked] = await batchOf('token', dir)(['revoke', next.id]);
      expect(revoked.code).toBe(0);
      for (const ended of [token, next.token])
        expect(await new TokenBook(storage).principalOf(ended)).toBeNull();
      await storage.close();
    }));

  it('create refuses a scope of nothing, everything with a name, and a time that is none or past', () =>
    inFolder(async (dir) => {
      const refused = await batchOf('token', dir)(
        ['create'],
        ['create', '--everything', '--agent', 'desk'],
        ['create', '--agent', 'desk', '--expires', 'soon'],
        ['create', '--agent', 'desk', '--expires', '2001-01-01'],
        ['create', '--session', 'nobody'],
      );
      expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2, 3]);
    }));
});
