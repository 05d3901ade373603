/** Workspaces over HTTP: entries with their versions, tool calls, sessions and plans, for those who may read everything. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { TokenBook } from '../../src/server/access/token-book.js';
import { Plans } from '../../src/workspace/plans.js';
import { SessionManager } from '../../src/workspace/sessions/session-manager.js';
import { ToolCallLog } from '../../src/workspace/tool-calls/tool-call-log.js';
import { Workspace } from '../../src/workspace/workspace.js';
import { type ServerKit, serverKit } from './server-kit.js';

/** It writes beside the server, as another process would. */
async function withWorkspace(): Promise<{ kit: ServerKit; workspace: Workspace; log: ToolCallLog }> {
  const kit = await serverKit();
  const workspace = new Workspace(kit.backend);
  const log = new ToolCallLog(kit.backend);
  onTestFinished(async () => {
    await workspace.close();
    await log.close();
  });
  await workspace.write('plan/a b', { steps: [1] }, { agent: 'planner' });
  await workspace.write('plan/a b', { steps: [1, 2] }, { agent: 'builder' });
  await workspace.write('notes', 'secret note', { agent: 'planner' });
  return { kit, workspace, log };
}

function call(fields: JsonObject) {
  return {
    ...{
      callId: 'c',
      tool: 'look',
      agent: 'ada',
      input: {},
      output: null,
      error: null,
      startedMs: 1_000,
      durationMs: 2,
    },
    ...fields,
  } as Parameters<ToolCallLog['record']>[0];
}

const ENTRIES = '/workspaces/store/entries';
const PLAN = `${ENTRIES}/${encodeURIComponent('plan/a b')}`;

describe('the entries of a workspace over HTTP', () => {
  it('are listed by key without their values, with their authors', async () => {
    const { kit } = await withWorkspace();
    const { status, json, text } = await kit.get(ENTRIES);
    expect([status, json]).toMatchObject([
      200,
      {
        ...{ total: 2, writes: 3 },
        agents: [
          { agent: 'builder', writes: 1 },
          { agent: 'planner', writes: 2 },
        ],
        entries: [
          { key: 'notes', version: 1, written_by: 'planner', deleted: false },
          { key: 'plan/a b', version: 2, written_by: 'builder', size_bytes: 15 },
        ],
      },
    ]);
    expect(text).not.toContain('secret note');
    const page = await kit.get(`${ENTRIES}?limit=1&offset=1`);
    expect(page.json).toMatchObject({ total: 2, entries: [{ key: 'plan/a b' }] });
  });

  it('are read at the newest and at an older version, also after a deletion', async () => {
    const { kit, workspace } = await withWorkspace();
    expect((await kit.get(PLAN)).json).toMatchObject({
      version: 2,
      value: { steps: [1, 2] },
      event: 'write',
    });
    expect((await kit.get(`${PLAN}?version=1`)).json).toMatchObject({ version: 1, value: { steps: [1] } });
    await workspace.delete('plan/a b', { agent: 'ada' });
    const gone = await kit.get(PLAN);
    expect(gone.json).toMatchObject({ version: 3, event: 'delete', written_by: 'ada' });
    expect(gone.json).not.toHaveProperty('value');
    expect((await kit.get(ENTRIES)).json).toMatchObject({ total: 1 });
    expect((await kit.get(`${ENTRIES}?deleted=true`)).json).toMatchObject({ total: 2 });
  });

  it('have a history, newest first, and differences between versions', async () => {
    const { kit, workspace } = await withWorkspace();
    await workspace.rollback('plan/a b', 1, { agent: 'ada' });
    const { json } = await kit.get(`${PLAN}/history`);
    expect(json).toMatchObject({
      versions: [
        { version: 3, event: 'rollback', from: 1, written_by: 'ada' },
        { version: 2, from: null },
        { version: 1 },
      ],
    });
    expect((await kit.get(`${PLAN}/diff?from=1&to=2`)).json).toMatchObject({
      changes: [{ op: 'add', path: '/steps/1', value: 2 }],
    });
    expect((await kit.get(`${PLAN}/diff?from=1`)).json).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
    });
  });

  it.each([
    '/workspaces/root:none/entries',
    '/workspaces/agent:none/entries',
    '/workspaces/odd/entries',
    '/workspaces/store/entries/none',
    '/workspaces/store/entries/none/history',
    '/workspaces/store/entries/notes?version=9',
    '/workspaces/store/entries/notes/diff?from=1&to=9',
    '/workspace/plans/none.md',
    '/workspace/plans/..%2F..%2Fcurrent.json',
    '/workspace/values/sha256:00',
  ])('%s is 404', async (target) => {
    const { kit } = await withWorkspace();
    const refused = await kit.get(target);
    expect([target, refused.status, refused.json['code']]).toEqual([target, 404, 'ENTRY_NOT_FOUND']);
    expect(kit.unexpected).toEqual([]);
  });

  it('are those of sessions and agents, too', async () => {
    const { kit } = await withWorkspace();
    for (const scope of [{ root: 'run-1' }, { agent: 'ada' }] as const) {
      const own = new Workspace(kit.backend, { scope });
      await own.write('own', scope, { agent: 'ada' });
      await own.close();
    }
    expect((await kit.get('/workspaces')).json).toEqual({ workspaces: ['store', 'root:run-1', 'agent:ada'] });
    const found = await kit.get(`/workspaces/${encodeURIComponent('root:run-1')}/entries/own`);
    expect(found.json).toMatchObject({ value: { root: 'run-1' } });
  });
});

describe('the tool calls over HTTP', () => {
  it('are found by text, tool, agent, session and outcome, newest first', async () => {
    const { kit, log } = await withWorkspace();
    await log.record(call({ input: { q: 'Needle' }, output: 1, session: 's' }));
    await log.record(call({ tool: 'other', agent: 'bob', error: 'broken', startedMs: 2_000 }));
    const tools = async (query: string) => {
      const { json } = await kit.get(`/workspace/calls${query}`);
      return (json['calls'] as JsonObject[]).map(({ tool }) => tool);
    };
    expect(await tools('')).toEqual(['other', 'look']);
    expect(await tools('?text=needle')).toEqual(['look']);
    expect(await tools('?agent=bob&status=error')).toEqual(['other']);
    expect(await tools('?session=s&tool=look')).toEqual(['look']);
    expect(await tools('?tool=none')).toEqual([]);
    expect(await tools('?limit=1')).toEqual(['other']);
    expect((await kit.get('/workspace/calls?status=odd')).json).toMatchObject({ status: 400 });
  });

  it('have their large values by reference', async () => {
    const { kit, log } = await withWorkspace();
    const large = 'x'.repeat(10_000);
    await log.record(call({ input: { large } }));
    const { calls } = (await kit.get('/workspace/calls')).json as { calls: JsonObject[] };
    expect(calls[0]).toMatchObject({ input: null, input_ref: expect.stringMatching(/^sha256:/) });
    const { json } = await kit.get(`/workspace/values/${encodeURIComponent(String(calls[0]!['input_ref']))}`);
    expect(JSON.parse(String(json['text']))).toEqual({ large });
  });

  it('say which agents read which entries', async () => {
    const { kit, log } = await withWorkspace();
    const read = { tool: 'read_from_workspace', input: { key: 'notes' } };
    await log.record(call(read));
    await log.record(call({ ...read, startedMs: 5_000 }));
    await log.record(
      call({ tool: 'get_workspace_context', input: { keys: ['notes', 'plan/a b'] }, agent: 'bob' }),
    );
    await log.record(call({ tool: 'get_workspace_context', input: {}, agent: 'bob' }));
    await log.record(call({ ...read, agent: 'eve', error: 'no such entry' }));
    const at = (ms: number) => new Date(ms).toISOString();
    expect((await kit.get('/workspace/readers')).json).toEqual({
      readers: [
        { agent: 'ada', key: 'notes', reads: 2, last_read_at: at(5_000) },
        { agent: 'bob', key: null, reads: 1, last_read_at: at(1_000) },
        { agent: 'bob', key: 'notes', reads: 1, last_read_at: at(1_000) },
        { agent: 'bob', key: 'plan/a b', reads: 1, last_read_at: at(1_000) },
      ],
    });
  });
});

describe('sessions and plans over HTTP', () => {
  it('are listed, with the current one of each', async () => {
    const { kit } = await withWorkspace();
    const sessions = new SessionManager(kit.backend);
    const { id } = await sessions.create({ title: 'first run' });
    await sessions.close();
    const plans = new Plans(kit.backend, ['workspace']);
    await plans.write('# Old');
    const archived = await plans.write('# New');
    await plans.close();
    expect((await kit.get('/workspace/sessions')).json).toMatchObject({
      current: id,
      sessions: [{ id, title: 'first run', status: 'active', resumed: 0, agents: [] }],
    });
    expect((await kit.get('/workspace/plans')).json).toEqual({ current: '# New', archived: [archived] });
    expect((await kit.get(`/workspace/plans/${archived}`)).json).toEqual({ name: archived, text: '# Old' });
  });
});

describe('a token for a part of the store', () => {
  it('reaches no workspace: their entries and calls are those of everybody', async () => {
    const { kit } = await withWorkspace();
    const { token } = await new TokenBook(kit.backend).create({
      agents: ['ada'],
      roots: [],
      session: null,
      mayWrite: false,
    });
    for (const target of [
      '/workspaces',
      ENTRIES,
      '/workspace/calls',
      '/workspace/readers',
      '/workspace/plans',
    ]) {
      const refused = await kit.get(target, { Authorization: `Bearer ${token}` });
      expect([target, refused.json]).toMatchObject([target, { status: 403, details: { reason: 'scope' } }]);
    }
  });
});
