import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { erase } from '../../../src/agent/erasure/erase.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { SessionManager } from '../../../src/workspace/sessions/session-manager.js';
import { Workspace } from '../../../src/workspace/workspace.js';
import { fileShop, SHOPS, type Shop } from '../workspace-kit.js';

const managerOf = (shop: Shop, backend = shop.backend) => new SessionManager(backend, { clock: shop.clock });
const ada = { name: 'analyst', agentId: 'ada' };
const HOSTILE = ['../x', '..', 'a/b', 'a\\b', '', '\0', 'x'.repeat(300), '\ud800', 'CON'];
/** Fine in a file name once `.json` follows, or once they are encoded. */
const ODD = ['__proto__', 'constructor', '.', '🙂', 'Ä ö', 'A', 'a', 'session.json'];

function deep(levels: number): unknown {
  let value: unknown = 'bottom';
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe.each(SHOPS)('sessions over $name', ({ make }) => {
  it('are none at first', async () => {
    const sessions = managerOf(await make());
    expect(await sessions.current()).toBeNull();
    expect(await sessions.list()).toEqual([]);
    expect(await sessions.get('session_1')).toBeNull();
    expect(await sessions.agentState('session_1', 'analyst')).toBeNull();
  });

  it('begin active, and are the current one', async () => {
    const shop = await make();
    const sessions = managerOf(shop);
    const at = new Date(shop.clock.nowMs()).toISOString();
    const session = await sessions.create({ title: 'Größe 🙂 \ud800', agents: [ada] });
    expect(session).toEqual({
      id: session.id,
      title: 'Größe 🙂 \ud800',
      status: 'active',
      startedAt: at,
      lastActiveAt: at,
      endedAt: null,
      resumed: 0,
      agents: [ada],
    });
    expect(await managerOf(shop).current()).toEqual(session);
    expect(await managerOf(shop).get(session.id)).toEqual(session);
  });

  it('note what the workspace was when they began', async () => {
    const shop = await make();
    const workspace = shop.workspace();
    await workspace.write('kept', 1, { agent: 'ada' });
    await workspace.write('gone', 1);
    await workspace.delete('gone');
    const sessions = managerOf(shop);
    const { id } = await sessions.create({ workspace });
    await workspace.write('kept', 2);
    expect((await sessions.workspaceSnapshot(id)).entries).toEqual([
      {
        key: 'kept',
        version: 1,
        written_by: 'ada',
        timestamp: new Date(shop.clock.nowMs()).toISOString(),
        size_bytes: 1,
      },
    ]);
    const without = await sessions.create();
    expect((await sessions.workspaceSnapshot(without.id)).entries).toEqual([]);
  });

  it('note what the workspace was at each resume and each end that names it', async () => {
    const shop = await make();
    const workspace = shop.workspace();
    const sessions = managerOf(shop);
    const { id } = await sessions.create({ workspace });
    const borders = [
      () => sessions.end(id, { workspace }),
      () => sessions.resume(id, { workspace }),
      () => sessions.resume(id),
      () => sessions.end(id, { workspace }),
    ];
    for (const [n, cross] of borders.entries()) {
      await workspace.write('kept', n);
      shop.clock.advance(1_000);
      await cross();
    }
    const found = await managerOf(shop).workspaceSnapshots(id);
    expect(
      found.map(({ border, resumed, snapshot: { entries } }) => [
        border,
        resumed,
        entries.map(({ key, version }) => [key, version]),
      ]),
    ).toEqual([
      ['start', 0, []],
      ['end', 0, [['kept', 1]]],
      ['resume', 1, [['kept', 2]]],
      ['end', 2, [['kept', 4]]],
    ]);
    expect(found[0]!.snapshot).toEqual(await sessions.workspaceSnapshot(id));
    expect(found[3]!.snapshot.taken_at).toBe((await sessions.get(id))!.endedAt);
    const old = await sessions.create();
    await sessions.end(old.id);
    expect((await sessions.workspaceSnapshots(old.id)).map(({ border }) => border)).toEqual(['start']);
  });

  it('stay active when their last snapshot cannot be made', async () => {
    const shop = await make();
    const sessions = managerOf(shop);
    const session = await sessions.create();
    const workspace = shop.workspace();
    workspace.list = () => Promise.reject(new Error('The disk is gone.'));
    await expect(sessions.end(session.id, { workspace })).rejects.toThrow('The disk is gone.');
    expect(await sessions.current()).toEqual(session);
  });

  it('end, and are active again when they are resumed', async () => {
    const shop = await make();
    const sessions = managerOf(shop);
    const { id } = await sessions.create();
    shop.clock.advance(1_000);
    const endedAt = new Date(shop.clock.nowMs()).toISOString();
    expect(await sessions.end(id)).toMatchObject({ status: 'ended', endedAt, lastActiveAt: endedAt });
    expect(await sessions.current()).toBeNull();
    shop.clock.advance(1_000);
    expect(await sessions.resume(id)).toMatchObject({ status: 'active', endedAt: null, resumed: 1 });
    expect(await sessions.current()).toEqual(await sessions.get(id));
    expect(await sessions.resume(id)).toMatchObject({ resumed: 2 });
  });

  it('leave the current one alone when another one ends', async () => {
    const sessions = managerOf(await make());
    const [one, two] = [await sessions.create(), await sessions.create()];
    await sessions.end(one.id);
    expect(await sessions.current()).toMatchObject({ id: two.id });
    await sessions.resume(one.id);
    expect(await sessions.current()).toMatchObject({ id: one.id });
  });

  it('that have ended are not current, also when a crash came before that was noted', async () => {
    const shop = await make();
    const sessions = managerOf(shop);
    const { id, startedAt } = await sessions.create();
    await sessions.end(id);
    const note = { session_id: id, started_at: startedAt };
    await shop.backend.documents.write(['workspace', 'sessions', 'current.json'], note);
    expect(await sessions.current()).toBeNull();
  });

  it('keep what an agent needs to go on, whatever JSON that is', async () => {
    const shop = await make();
    const sessions = managerOf(shop);
    const { id } = await sessions.create();
    const states = [
      { step: 3, list: [1, null] },
      'text',
      0,
      false,
      null,
      [],
      JSON.parse('{"__proto__":{"a":1}}'),
    ];
    for (const state of states) {
      const saved = await sessions.saveAgentState(id, { ...ada, state, workspaceKeysWritten: ['a'] });
      expect(saved).toMatchObject({ ...ada, workspaceKeysWritten: ['a'] });
      const found = await managerOf(shop).agentState(id, 'analyst');
      expect(JSON.stringify(found?.state)).toBe(JSON.stringify(state));
    }
    expect((await sessions.get(id))?.agents).toEqual([ada]);
    expect(await sessions.agentState(id, 'other')).toBeNull();
  });

  it('keep what a state was when it was saved', async () => {
    const sessions = managerOf(await make());
    const { id } = await sessions.create();
    const state = { step: 1 };
    const saving = sessions.saveAgentState(id, { ...ada, state });
    state.step = 2;
    await saving;
    expect((await sessions.agentState(id, 'analyst'))?.state).toEqual({ step: 1 });
  });

  it('refuse a state that would not be kept as a whole', async () => {
    const sessions = managerOf(await make());
    const { id } = await sessions.create();
    await sessions.saveAgentState(id, { ...ada, state: deep(500) });
    const saving = sessions.saveAgentState(id, { ...ada, state: deep(600) });
    await expect(saving).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect((await sessions.agentState(id, 'analyst'))?.state).toEqual(deep(500));
  });

  it('know an agent by the id that it has now', async () => {
    const sessions = managerOf(await make());
    const { id } = await sessions.create({ agents: [ada, { name: 'writer', agentId: 'eve' }] });
    await sessions.saveAgentState(id, { name: 'analyst', agentId: 'bob' });
    expect((await sessions.get(id))?.agents).toEqual([
      { name: 'writer', agentId: 'eve' },
      { name: 'analyst', agentId: 'bob' },
    ]);
  });

  it('lose nothing that two managers save at the same time', async () => {
    const shop = await make();
    const other = shop.root === '' ? shop.backend : new FileStorage(shop.root);
    const managers = [managerOf(shop), managerOf(shop, other)];
    const { id } = await managers[0]!.create();
    const names = Array.from({ length: 10 }, (_, n) => `agent ${n}`);
    await Promise.all(
      names.map((name, n) => managers[n % 2]!.saveAgentState(id, { name, agentId: `id ${n}`, state: n })),
    );
    expect((await managers[0]!.get(id))?.agents.map(({ name }) => name).sort()).toEqual(names);
    const states = await Promise.all(names.map((name) => managers[1]!.agentState(id, name)));
    expect(states.map((state) => state?.state)).toEqual(names.map((_, n) => n));
    await Promise.all(managers.map((manager) => manager.close()));
  });

  it('are listed by their last activity, and filtered', async () => {
    const shop = await make();
    const sessions = managerOf(shop);
    const one = await sessions.create({ agents: [ada] });
    shop.clock.advance(1_000);
    const two = await sessions.create({ agents: [{ name: 'writer', agentId: 'eve' }] });
    shop.clock.advance(1_000);
    const three = await sessions.create();
    await sessions.end(two.id);
    const ids = async (filter?: Parameters<SessionManager['list']>[0]) =>
      (await sessions.list(filter)).map(({ id }) => id);
    expect((await ids()).at(-1)).toBe(one.id);
    expect(await ids({ status: 'ended' })).toEqual([two.id]);
    expect(await ids({ agent: 'analyst' })).toEqual([one.id]);
    expect(await ids({ agent: 'eve', status: 'ended' })).toEqual([two.id]);
    expect(await ids({ agent: 'nobody' })).toEqual([]);
    expect((await ids({ sinceMs: shop.clock.nowMs() })).sort()).toEqual([two.id, three.id].sort());
    expect(await ids({ sinceMs: shop.clock.nowMs() + 1 })).toEqual([]);
    expect(await ids({ limit: 2 })).toHaveLength(2);
    expect(await ids({ limit: 0 })).toEqual([]);
    expect(await ids({ limit: -1 })).toEqual([]);
    shop.clock.advance(1_000);
    await sessions.resume(one.id);
    expect((await ids())[0]).toBe(one.id);
  });

  it('that are not there are SESSION_NOT_FOUND', async () => {
    const shop = await make();
    const sessions = managerOf(shop);
    const notFound = { code: 'SESSION_NOT_FOUND', details: { id: 'session_1' } };
    await expect(sessions.resume('session_1')).rejects.toMatchObject(notFound);
    await expect(sessions.end('session_1')).rejects.toMatchObject(notFound);
    await expect(sessions.workspaceSnapshot('session_1')).rejects.toMatchObject(notFound);
    await expect(sessions.workspaceSnapshots('session_1')).rejects.toMatchObject(notFound);
    const workspace = shop.workspace();
    await expect(sessions.end('session_1', { workspace })).rejects.toMatchObject(notFound);
    expect(await shop.backend.listNames(['workspace', 'sessions'])).toEqual([]);
    await expect(sessions.saveAgentState('session_1', ada)).rejects.toMatchObject(notFound);
    expect(await sessions.agentState('session_1', 'analyst')).toBeNull();
    expect(await sessions.current()).toBeNull();
  });

  it.each([...HOSTILE, '__proto__', '🙂', 'current.json'])('have no session %j', async (id) => {
    const sessions = managerOf(await make());
    await sessions.create();
    const code = expect.stringMatching(/^(?:INVALID_NAME|SESSION_NOT_FOUND|PATH_REFUSED)$/);
    await expect(sessions.resume(id)).rejects.toMatchObject({ code });
    await expect(sessions.saveAgentState(id, ada)).rejects.toMatchObject({ code });
    await expect(sessions.workspaceSnapshot(id)).rejects.toMatchObject({ code });
  });

  it.each(HOSTILE.filter((name) => name !== '' && name !== '..'))(
    'refuse an agent %j before anything changes',
    async (name) => {
      const shop = await make();
      const sessions = managerOf(shop);
      const session = await sessions.create();
      shop.clock.advance(1_000);
      const saving = sessions.saveAgentState(session.id, { name, agentId: 'x' });
      await expect(saving).rejects.toMatchObject({ code: 'INVALID_NAME' });
      expect(await sessions.get(session.id)).toEqual(session);
      const creating = sessions.create({ agents: [{ name, agentId: 'x' }] });
      await expect(creating).rejects.toMatchObject({ code: 'INVALID_NAME' });
      expect(await sessions.list()).toEqual([session]);
    },
  );

  it('keep agents with odd names apart', async () => {
    const shop = await make();
    const sessions = managerOf(shop);
    const { id } = await sessions.create();
    for (const name of ['', '..', ...ODD])
      await sessions.saveAgentState(id, { name, agentId: `id of ${name}`, state: name });
    for (const name of ['', '..', ...ODD])
      expect(await sessions.agentState(id, name)).toMatchObject({ name, state: name });
    expect((await sessions.get(id))?.agents).toHaveLength(ODD.length + 2);
  });

  it('refuse two agents of one name', async () => {
    const sessions = managerOf(await make());
    const creating = sessions.create({ agents: [ada, { name: 'analyst', agentId: 'eve' }] });
    await expect(creating).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await sessions.list()).toEqual([]);
  });

  it('refuse work after they were closed', async () => {
    const sessions = managerOf(await make());
    const creating = sessions.create();
    await sessions.close();
    expect((await creating).status).toBe('active');
    await expect(sessions.create()).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
  });
});

describe('session files', () => {
  it('stay inside the store, whatever the names', async () => {
    const shop = await fileShop();
    const root = path.join(shop.root, 'store');
    const sessions = managerOf(shop, new FileStorage(root));
    const { id } = await sessions.create();
    for (const name of [...HOSTILE, ...ODD]) {
      await sessions.saveAgentState(id, { name, agentId: name }).catch(() => {});
      await sessions.resume(name).catch(() => {});
    }
    expect(await fs.readdir(shop.root)).toEqual(['store']);
    expect(await fs.readdir(root)).toEqual(['workspace']);
    await sessions.close();
  });

  it('in the workspace of an agent go with it, snapshots of every border included', async () => {
    const shop = await fileShop();
    const workspace = new Workspace(shop.backend, { scope: { agent: 'ada' } });
    await workspace.write('a secret key', 1);
    const sessions = new SessionManager(shop.backend, { folder: workspace.folder });
    const { id } = await sessions.create({ workspace });
    await sessions.end(id, { workspace });
    await sessions.resume(id, { workspace });
    await Promise.all([sessions.close(), workspace.close()]);
    const files = async () => (await fs.readdir(shop.root, { recursive: true })).join('\n');
    expect(await files()).toMatch(/workspace_snapshot_end_0.*workspace_snapshot_resume_1/s);
    await erase(shop.backend, { agent: 'ada' });
    expect(await files()).not.toMatch(/snapshot/);
  });

  it.each([
    ['half of it', (text: string) => text.slice(0, 60), {}],
    ['of another shape', (text: string) => text.replace('"active"', '"odd"'), { line: 5, column: 13 }],
    ['without its agents', (text: string) => text.replace('"agents"', '"friends"'), { line: 1, column: 1 }],
    ['empty', () => '', { line: 1, column: 1 }],
  ])('that are %s are refused with their line, and stay as they are', async (_, spoil, place) => {
    const shop = await fileShop();
    const sessions = managerOf(shop);
    const { id } = await sessions.create();
    const file = path.join(shop.root, 'workspace/sessions', id, 'session.json');
    await fs.writeFile(file, spoil(await fs.readFile(file, 'utf8')));
    const before = await fs.readFile(file);
    const details = { line: expect.any(Number), ...place };
    const damaged = { code: 'DOCUMENT_DAMAGED', details };
    await expect(sessions.get(id)).rejects.toMatchObject(damaged);
    await expect(sessions.current()).rejects.toMatchObject(damaged);
    await expect(sessions.resume(id)).rejects.toMatchObject(damaged);
    await expect(sessions.end(id)).rejects.toMatchObject(damaged);
    await expect(sessions.saveAgentState(id, ada)).rejects.toMatchObject(damaged);
    await expect(sessions.list()).rejects.toMatchObject(damaged);
    expect(await fs.readFile(file)).toEqual(before);
    expect((await sessions.create()).status).toBe('active');
  });

  it('of an agent that are damaged are not overwritten', async () => {
    const shop = await fileShop();
    const sessions = managerOf(shop);
    const { id } = await sessions.create();
    await sessions.saveAgentState(id, ada);
    const file = path.join(shop.root, 'workspace/sessions', id, 'agent_states/analyst.json');
    await fs.writeFile(file, '{"mine":\n');
    const damaged = { code: 'DOCUMENT_DAMAGED', details: { line: 2 } };
    await expect(sessions.saveAgentState(id, ada)).rejects.toMatchObject(damaged);
    await expect(sessions.agentState(id, 'analyst')).rejects.toMatchObject(damaged);
    expect(await fs.readFile(file, 'utf8')).toBe('{"mine":\n');
  });

  it('are listed around what is none', async () => {
    const shop = await fileShop();
    const sessions = managerOf(shop);
    const session = await sessions.create();
    const folder = path.join(shop.root, 'workspace/sessions');
    await fs.writeFile(path.join(folder, 'session_notes.txt'), 'mine');
    await fs.writeFile(path.join(folder, 'session_Old.'), 'mine');
    await fs.mkdir(path.join(folder, 'session_empty'));
    await fs.symlink('/tmp', path.join(folder, 'session_link'));
    expect(await sessions.list()).toEqual([session]);
  });
});
