/** The session tree over HTTP. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { type Answer, PROBLEM_TYPE, serverKit } from './server-kit.js';

function ids(answer: Answer, list = 'sessions'): unknown[] {
  return (answer.json[list] as JsonObject[]).map((entry) => entry['id'] ?? entry['session']);
}

describe('a session', () => {
  it('is made as a root or below another, and has an address', async () => {
    const kit = await serverKit();
    const root = await kit.call('POST', '/sessions', { body: { id: 'a b é', agent: 'ada' } });
    expect([root.status, root.headers.location]).toEqual([201, '/sessions/a%20b%20%C3%A9']);
    expect(root.json).toMatchObject({
      id: 'a b é',
      parent: null,
      root: 'a b é',
      agent: 'ada',
      status: 'pending',
    });
    expect((await kit.get('/sessions/a%20b%20%C3%A9')).json).toEqual(root.json);
    const child = await kit.call('POST', '/sessions', { body: { parent: 'a b é', status: 'running' } });
    expect(child.json).toMatchObject({ parent: 'a b é', root: 'a b é', status: 'running', why: null });
    expect((await kit.get(child.headers.location ?? '')).json).toEqual(child.json);
  });

  const strange = ['a/b', '../../outside', '..', '.', 'é'.repeat(128), '😀'.repeat(64), 'a\\b', 'CON', ' '];
  it.each(strange)('called %j is refused, or has a state that can be used', async (id) => {
    const kit = await serverKit();
    const made = await kit.call('POST', '/sessions', { body: { id } });
    if (made.status === 400) return;
    expect(made.status).toBe(201);
    // A child has an address whatever its root is called.
    await kit.session({ id: 'child', parent: id });
    const put = await kit.call('PUT', '/sessions/child/state/keys/k', { body: { value: 1 } });
    expect([put.status, put.json['value']]).toEqual([200, 1]);
  });

  it.each(['__proto__', '100%', 'é', 'constructor', '😀', 'a b', '%2e%2e'])(
    'may be called %j, and has a state',
    async (id) => {
      const kit = await serverKit();
      await kit.session({ id });
      const state = `/sessions/${encodeURIComponent(id)}/state`;
      const put = await kit.call('PUT', `${state}/keys/k`, { body: { value: 1 } });
      expect([put.status, put.json['value'], put.json['updated_by']]).toEqual([200, 1, id]);
      expect((await kit.get(state)).json).toMatchObject({ root_session_id: id });
      expect(kit.unexpected).toEqual([]);
    },
  );

  it.each([
    [{ id: '' }],
    [{ id: 'x'.repeat(129) }],
    [{ id: 'a\nb' }],
    [{ id: 1 }],
    [{ id: 'self', parent: 'self' }],
    [{ status: 'asleep' }],
    [{ more: 1 }],
    [[]],
    ['x'],
  ])('is not made of %j', async (body) => {
    const kit = await serverKit();
    const refused = await kit.call('POST', '/sessions', { body });
    expect([refused.status, refused.headers['content-type']]).toEqual([400, PROBLEM_TYPE]);
    expect(ids(await kit.get('/sessions'))).toEqual(['root']);
  });

  it('is not made twice, below none that is there, or below one that ended', async () => {
    const kit = await serverKit();
    const make = (body: JsonObject) => kit.call('POST', '/sessions', { body });
    expect((await make({ id: 'root' })).json).toMatchObject({ status: 409, code: 'SESSION_EXISTS' });
    expect((await make({ parent: 'none' })).json).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    await kit.session({ id: 'over', status: 'finished' });
    expect((await make({ parent: 'over' })).json).toMatchObject({ status: 409, code: 'SESSION_STATE' });
  });

  it('that many ask for at once is made for one of them', async () => {
    const kit = await serverKit();
    const made = await Promise.all(
      Array.from({ length: 8 }, () => kit.call('POST', '/sessions', { body: { id: 'one' } })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  it('goes through its statuses, with a reason, and refuses those that cannot follow', async () => {
    const kit = await serverKit();
    await kit.session({ id: 's' });
    const set = (body: JsonObject) => kit.call('PUT', '/sessions/s/status', { body });
    expect((await set({ status: 'finished' })).json).toMatchObject({
      status: 409,
      code: 'SESSION_STATE',
      details: { possible: ['running', 'stopping', 'stopped', 'failed'] },
    });
    expect((await set({ status: 'running' })).json).toMatchObject({ id: 's', status: 'running', why: null });
    expect((await set({ status: 'failed', why: 'no disk' })).json).toMatchObject({
      status: 'failed',
      why: 'no disk',
    });
    for (const body of [
      { status: 'x' },
      {},
      { status: 'running', why: 'x'.repeat(2001) },
      { status: 'running', a: 1 },
    ])
      expect((await set(body)).status).toBe(400);
    const nobody = await kit.call('PUT', '/sessions/nobody/status', { body: { status: 'running' } });
    expect(nobody.status).toBe(404);
  });

  it('that is not there is a problem', async () => {
    const kit = await serverKit();
    const missing = await kit.get('/sessions/nobody');
    expect([missing.status, missing.headers['content-type']]).toEqual([404, PROBLEM_TYPE]);
    expect(missing.json).toMatchObject({ code: 'SESSION_NOT_FOUND', details: { id: 'nobody' } });
  });
});

describe('the list of sessions', () => {
  it('is oldest first, and takes every filter at once', async () => {
    const kit = await serverKit();
    await kit.session({ id: 'c1', parent: 'root', status: 'running' });
    await kit.session({ id: 'c2', parent: 'root' });
    await kit.session({ id: 'g', parent: 'c1' });
    await kit.session({ id: 'other' });
    const list = async (query: string) => ids(await kit.get(`/sessions${query}`));
    expect(await list('')).toEqual(['root', 'c1', 'c2', 'g', 'other']);
    expect(await list('?root=root')).toEqual(['root', 'c1', 'c2', 'g']);
    expect(await list('?parent=root')).toEqual(['c1', 'c2']);
    expect(await list('?parent=root&status=pending')).toEqual(['c2']);
    expect(await list('?status=running&root=root')).toEqual(['root', 'c1']);
    expect(await list('?status=asleep')).toEqual([]);
    expect(await list('?root=nobody')).toEqual([]);
  });
});

describe('orphans', () => {
  it('are those that work on below one that ended, with the one that did', async () => {
    const kit = await serverKit();
    await kit.session({ id: 'c', parent: 'root', status: 'running' });
    await kit.session({ id: 'g', parent: 'c', status: 'running' });
    expect((await kit.get('/orphans')).json).toEqual({ orphans: [] });
    await kit.call('PUT', '/sessions/root/status', { body: { status: 'failed' } });
    const { orphans } = (await kit.get('/orphans')).json as { orphans: JsonObject[] };
    expect(orphans).toMatchObject([
      { session: { id: 'c' }, reason: 'parent_ended', ancestor: 'root' },
      { session: { id: 'g' }, reason: 'parent_ended', ancestor: 'root' },
    ]);
  });
});
