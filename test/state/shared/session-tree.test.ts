import { describe, expect, it } from 'vitest';
import { erase } from '../../../src/agent/erasure/erase.js';
import { ManualClock } from '../../../src/core/clock.js';
import {
  sessionEnvironment,
  sessionFromEnvironment,
} from '../../../src/state/shared/sessions/session-environment.js';
import { SESSION_STATUSES, type SessionStatus } from '../../../src/state/shared/sessions/session-record.js';
import type { SessionTree } from '../../../src/state/shared/sessions/session-tree.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { JOURNAL_START } from '../../../src/storage/journal-position.js';
import { SharedJournal } from '../../../src/storage/shared-journal.js';
import { errorOf, until } from '../durable/state-kit.js';
import { DENS, Den } from './shared-kit.js';

const ids = (sessions: readonly { readonly id: string }[]) => sessions.map(({ id }) => id);

/** a, below it b, below that c. */
async function line(tree: SessionTree): Promise<void> {
  await tree.create({ id: 'a', status: 'running' });
  await tree.create({ id: 'b', parent: 'a', status: 'running' });
  await tree.create({ id: 'c', parent: 'b', status: 'running' });
}

describe.each(DENS)('a session tree over $name', ({ make }) => {
  it('has roots, and children that belong to the root of their parent', async () => {
    const den = await make();
    const clock = new ManualClock(1_700_000_000_000);
    const at = new Date(clock.nowMs()).toISOString();
    const tree = den.tree({ clock });
    const shared = { status: 'pending', why: null, createdAt: at, updatedAt: at };
    const root = { id: 'a', parent: null, root: 'a', agent: null, ...shared };
    const child = { id: 'b', parent: 'a', root: 'a', agent: 'builder', ...shared };
    const grandchild = { id: 'c', parent: 'b', root: 'a', agent: null, ...shared };
    expect(await tree.create({ id: 'a' })).toEqual(root);
    expect(await tree.create({ id: 'b', parent: 'a', agent: 'builder' })).toEqual(child);
    expect(await tree.create({ id: 'c', parent: 'b' })).toEqual(grandchild);
    await tree.close();
    expect(await den.tree().list()).toEqual([root, child, grandchild]);
  });

  it('gives a new id to each session that has none', async () => {
    const tree = (await make()).tree();
    const [one, other] = await Promise.all([tree.create(), tree.create()]);
    expect(one.id).not.toBe(other.id);
    expect(one.root).toBe(one.id);
  });

  it('takes no session for a person', async () => {
    const tree = (await make()).tree();
    for (const id of ['user:ann@desk', 'user:'])
      expect(await errorOf(tree.create({ id }))).toMatchObject({
        code: 'INVALID_ARGUMENT',
        details: { field: 'id' },
      });
    await tree.create({ id: 'users' });
    expect(ids(await tree.list())).toEqual(['users']);
  });

  it('lists by root, parent and status', async () => {
    const tree = (await make()).tree();
    await line(tree);
    await tree.create({ id: 'z' });
    await tree.create({ id: 'y', parent: 'a' });
    expect(ids(await tree.list({ root: 'a' }))).toEqual(['a', 'b', 'c', 'y']);
    expect(ids(await tree.list({ parent: 'a' }))).toEqual(['b', 'y']);
    expect(ids(await tree.list({ status: 'pending' }))).toEqual(['z', 'y']);
    expect(ids(await tree.list({ root: 'a', status: 'pending' }))).toEqual(['y']);
    expect(await tree.list({ root: 'absent' })).toEqual([]);
  });

  it('refuses an unknown parent, itself as parent, and an id that is taken', async () => {
    const tree = (await make()).tree();
    await tree.create({ id: 'a' });
    expect(await errorOf(tree.create({ id: 'b', parent: 'nobody' }))).toMatchObject({
      code: 'SESSION_NOT_FOUND',
      details: { id: 'nobody' },
    });
    expect(await errorOf(tree.create({ id: 'b', parent: 'b' }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { field: 'parent' },
    });
    expect((await errorOf(tree.create({ id: 'a', parent: 'a' }))).code).toBe('INVALID_ARGUMENT');
    expect(await errorOf(tree.create({ id: 'a' }))).toMatchObject({
      code: 'SESSION_EXISTS',
      details: { id: 'a', status: 'pending' },
    });
    expect(ids(await tree.list())).toEqual(['a']);
  });

  it('lets one of two instances create an id', async () => {
    const den = await make();
    const trees = [den.tree(), den.tree()];
    const results = await Promise.allSettled(trees.map((tree) => tree.create({ id: 'a' })));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await trees[0]!.list()).toEqual(await trees[1]!.list());
  });

  it('tells of changes by another instance', async () => {
    const den = await make();
    const seen: string[] = [];
    const watching = den.tree();
    watching.events.on('changed', ({ id, status }) => seen.push(`${id} ${status}`));
    const end = await watching.watch();
    const other = den.tree();
    await other.create({ id: 'a' });
    await other.setStatus('a', 'running');
    await until(() => seen.length >= 2);
    await end();
    expect(seen).toEqual(['a pending', 'a running']);
  });
});

describe('the status of a session', () => {
  const paths: Record<SessionStatus, readonly SessionStatus[]> = {
    pending: [],
    running: ['running'],
    idle: ['running', 'idle'],
    stopping: ['stopping'],
    finished: ['running', 'finished'],
    stopped: ['stopped'],
    failed: ['failed'],
  };
  const allowed: Record<SessionStatus, readonly SessionStatus[]> = {
    pending: ['running', 'stopping', 'stopped', 'failed'],
    running: ['idle', 'stopping', 'finished', 'stopped', 'failed'],
    idle: ['running', 'stopping', 'finished', 'stopped', 'failed'],
    stopping: ['finished', 'stopped', 'failed'],
    finished: ['running'],
    stopped: ['running'],
    failed: ['running'],
  };

  it.each(SESSION_STATUSES)('%s leads where it may, and nowhere else', async (from) => {
    for (const to of SESSION_STATUSES.filter((status) => status !== from)) {
      const tree = Den.memory().tree();
      await tree.create({ id: 'a' });
      for (const step of paths[from]) await tree.setStatus('a', step);
      if (allowed[from].includes(to)) {
        expect(await tree.setStatus('a', to)).toMatchObject({ status: to });
        continue;
      }
      expect(await errorOf(tree.setStatus('a', to))).toMatchObject({
        code: 'SESSION_STATE',
        details: { id: 'a', status: from, possible: allowed[from] },
      });
      expect((await tree.require('a')).status).toBe(from);
    }
  });

  it('is kept with its reason and time; the same one again changes nothing', async () => {
    const den = await Den.files();
    const clock = new ManualClock(1_700_000_000_000);
    const tree = den.tree({ clock });
    const { createdAt } = await tree.create({ id: 'a' });
    clock.advance(5);
    const failed = await tree.setStatus('a', 'failed', { why: 'no model' });
    expect(failed).toMatchObject({
      why: 'no model',
      createdAt,
      updatedAt: new Date(clock.nowMs()).toISOString(),
    });
    clock.advance(5);
    expect(await tree.setStatus('a', 'failed', { why: 'something else' })).toEqual(failed);
    await tree.close();
    expect(await den.tree().get('a')).toEqual(failed);
    expect(await den.tree().setStatus('a', 'running')).toMatchObject({ why: null });
  });

  it('of an unknown session, or an unknown one, is refused', async () => {
    const tree = Den.memory().tree();
    expect((await errorOf(tree.setStatus('nobody', 'running'))).code).toBe('SESSION_NOT_FOUND');
    expect((await errorOf(tree.require('nobody'))).code).toBe('SESSION_NOT_FOUND');
    expect(await tree.get('nobody')).toBeNull();
    await tree.create({ id: 'a' });
    for (const status of ['done', '', null, 'constructor'])
      expect((await errorOf(tree.setStatus('a', status as never))).code).toBe('INVALID_ARGUMENT');
  });

  it('that has ended takes no new children', async () => {
    const tree = Den.memory().tree();
    await tree.create({ id: 'a', status: 'running' });
    await tree.setStatus('a', 'finished');
    expect(await errorOf(tree.create({ id: 'b', parent: 'a' }))).toMatchObject({
      code: 'SESSION_STATE',
      details: { id: 'a', status: 'finished' },
    });
    await tree.setStatus('a', 'running');
    expect(await tree.create({ id: 'b', parent: 'a' })).toMatchObject({ root: 'a' });
  });
});

describe('the id of a session', () => {
  it.each(['', 'x'.repeat(129), 'a\nb', 'a\ud800', 5, {}])(
    '%j is refused, also as parent or agent',
    async (id) => {
      const tree = Den.memory().tree();
      for (const options of [{ id }, { parent: id }, { agent: id }])
        expect((await errorOf(tree.create(options as never))).code).toBe('INVALID_ARGUMENT');
      expect(await tree.list()).toEqual([]);
    },
  );

  it.each(['__proto__', 'constructor', 'A', 'ä', 'a b'])('%j is one like others', async (id) => {
    const den = await Den.files();
    const sessions = new SharedSessions(den.storage());
    await sessions.tree.create({ id });
    expect(await sessions.tree.get('toString')).toBeNull();
    await (await sessions.stateOf(id)).set('a', 1);
    await sessions.close();
    const again = new SharedSessions(den.storage());
    expect(await (await again.stateOf(id)).get('a')).toMatchObject({ value: 1 });
    await again.close();
  });

  it.each(['ä'.repeat(100), 'a/b', '..', 'CON', ' a', 'a.'])(
    '%j that is accepted can have a state',
    async (id) => {
      const sessions = new SharedSessions((await Den.files()).storage());
      const created = await sessions.tree.create({ id }).catch(() => null);
      if (created) await (await sessions.stateOf(id)).set('a', 1);
    },
  );
});

describe('sessions that are given away', () => {
  it('are copies', async () => {
    const tree = Den.memory().tree();
    await tree.create({ id: 'a' });
    for (const given of [await tree.get('a'), await tree.require('a'), (await tree.list())[0]])
      try {
        (given as { status: string }).status = 'finished';
      } catch {} // frozen is as good
    expect((await tree.require('a')).status).toBe('pending');
  });
});

describe('orphans', () => {
  it('are sessions that work on below one that ended, with the nearest such one', async () => {
    const den = await Den.files();
    const tree = den.tree();
    await line(tree);
    expect(await tree.orphans()).toEqual([]);
    await tree.setStatus('a', 'failed');
    const told = async (of: SessionTree) =>
      (await of.orphans()).map(({ session, reason, ancestor }) => [session.id, reason, ancestor]);
    expect(await told(tree)).toEqual([
      ['b', 'parent_ended', 'a'],
      ['c', 'parent_ended', 'a'],
    ]);
    await tree.setStatus('b', 'stopped');
    await tree.close();
    expect(await told(den.tree())).toEqual([['c', 'parent_ended', 'b']]);
    await den.tree().setStatus('c', 'finished');
    expect(await told(den.tree())).toEqual([]);
  });

  it('are sessions whose parent is missing, because its record is damaged', async () => {
    const den = await Den.files();
    const tree = den.tree();
    await line(tree);
    await tree.close();
    await den.damageLine(1, `${den.root}/shared/tree/sessions.jsonl`);
    const again = den.tree();
    expect(
      (await again.orphans()).map(({ session, reason, ancestor }) => [session.id, reason, ancestor]),
    ).toEqual([['c', 'parent_missing', 'b']]);
    expect(await again.get('c')).toMatchObject({ parent: 'b', root: 'a' });
  });
});

/** Appends records that name no root, as an older store has them: `[id, parent]`. */
async function addOlder(den: Den, ...rows: (readonly [string, string | null])[]): Promise<void> {
  const journal = new SharedJournal(den.storage(), {
    journal: ['shared', 'tree', 'sessions'],
    lease: ['shared', 'tree', 'sessions.lease'],
    fold: { load: async () => JOURNAL_START, apply: () => {} },
  });
  const at = '2025-12-20T10:00:00.000Z';
  for (const [id, parent] of rows) {
    const record = { id, parent, agent: null, status: 'running', created_at: at, updated_at: at };
    await journal.change(async () => ({ record, done: () => {} }));
  }
  await journal.close();
}

describe('the record of a session that names no root', () => {
  const rootsIn = async (tree: SessionTree) =>
    Object.fromEntries((await tree.list()).map(({ id, root }) => [id, root]));

  it('is of its own root without a parent, and of the root of its parent with one, in any order', async () => {
    const den = await Den.files();
    await addOlder(den, ['a', null], ['b', 'a'], ['d', 'c'], ['c', 'b']);
    const tree = den.tree();
    expect(await rootsIn(tree)).toEqual({ a: 'a', b: 'a', c: 'a', d: 'a' });
    await tree.create({ id: 'e', parent: 'd' });
    expect(await tree.rootOf('e')).toBe('a');
    expect(await tree.setStatus('d', 'idle')).toMatchObject({ root: 'a' });
    expect(await rootsIn(den.tree())).toEqual({ a: 'a', b: 'a', c: 'a', d: 'a', e: 'a' });
    const sessions = new SharedSessions(den.storage());
    await (await sessions.stateOf('d')).set('k', 1);
    expect(await (await sessions.stateOf('a')).get('k')).toMatchObject({ value: 1 });
    await sessions.close();
  });

  it('is of the root that a session above it names', async () => {
    const den = await Den.files();
    await line(den.tree());
    await addOlder(den, ['d', 'c']);
    expect(await den.tree().require('d')).toMatchObject({ parent: 'c', root: 'a' });
  });

  it('below a missing session is told as an orphan, and gets its root when that session comes', async () => {
    const den = await Den.files();
    await addOlder(den, ['c', 'b'], ['x', 'y'], ['y', 'x']);
    const tree = den.tree();
    expect(await rootsIn(tree)).toEqual({ c: 'b', x: 'x', y: 'y' });
    expect(
      (await tree.orphans()).map(({ session, reason, ancestor }) => [session.id, reason, ancestor]),
    ).toEqual([
      ['c', 'parent_missing', 'b'],
      ['x', 'parent_missing', 'x'],
      ['y', 'parent_missing', 'y'],
    ]);
    await den.tree().create({ id: 'a', status: 'running' });
    await den.tree().create({ id: 'b', parent: 'a', status: 'running' });
    expect(await tree.require('c')).toMatchObject({ root: 'a' });
    expect(ids((await tree.orphans()).map(({ session }) => session))).toEqual(['x', 'y']);
  });

  it('is erased with its root, and cannot be erased as a root itself', async () => {
    const den = await Den.files();
    await addOlder(den, ['a', null], ['b', 'a'], ['c', 'b'], ['z', null]);
    expect(await errorOf(erase(den.storage(), { session: 'c' }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { session: 'c', root: 'a' },
    });
    await erase(den.storage(), { session: 'a' });
    expect(ids(await den.tree().list())).toEqual(['z']);
  });
});

describe('the environment of a session', () => {
  it('says which session a process is, and of which root', () => {
    const environment = sessionEnvironment({ id: 'b', root: 'a' });
    expect(environment).toEqual({ AGENT_SESSION_ID: 'b', AGENT_ROOT_SESSION_ID: 'a' });
    expect(sessionFromEnvironment(environment)).toEqual({ id: 'b', root: 'a' });
    expect(sessionFromEnvironment({ AGENT_SESSION_ID: 'b' })).toEqual({ id: 'b', root: null });
    expect(sessionFromEnvironment({ AGENT_SESSION_ID: '', AGENT_ROOT_SESSION_ID: '' })).toBeNull();
    expect(() => sessionFromEnvironment({ AGENT_ROOT_SESSION_ID: 'a' })).toThrow('AGENT_SESSION_ID');
  });
});

describe('the sessions of a store', () => {
  it('share the state of their root, and no other', async () => {
    const sessions = new SharedSessions((await Den.files()).storage());
    await line(sessions.tree);
    await sessions.tree.create({ id: 'z' });
    await (await sessions.stateOf('c')).set('a', 1);
    expect(await (await sessions.stateOf('a')).get('a')).toMatchObject({ value: 1 });
    expect(await sessions.stateOf('b')).toBe(await sessions.stateOf('c'));
    expect(await (await sessions.stateOf('z')).get('a')).toBeNull();
    expect((await errorOf(sessions.stateOf('nobody'))).code).toBe('SESSION_NOT_FOUND');
    await sessions.close();
  });
});
