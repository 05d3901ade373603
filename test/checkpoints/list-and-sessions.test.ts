import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ListQuery } from '../../src/checkpoints/checkpoint-query.js';
import { errorOf, Place } from './checkpoint-kit.js';

const DAY_MS = 86_400_000;

describe('the list of checkpoints', () => {
  it('has the newest first, also where several were saved in the same millisecond', async () => {
    const place = await Place.make();
    const service = place.service();
    for (let n = 1; n <= 4; n += 1) await service.save({ sessionId: 's', context: { n } });
    const newestFirst = ['s@4', 's@3', 's@2', 's@1'];
    const ofSession = await service.list({ sessionId: 's' });
    expect(ofSession.checkpoints.map(({ id }) => id)).toEqual(newestFirst);
    const ofAll = await service.list();
    expect(ofAll.checkpoints.map(({ id }) => id)).toEqual(newestFirst);
  });

  it('mixes the sessions by time, where none is named', async () => {
    const place = await Place.make();
    const service = place.service();
    for (const sessionId of ['b', 'a', 'b', 'c', 'a']) {
      place.clock.advance(1_000);
      await service.save({ sessionId, context: { at: place.clock.nowMs() } });
    }
    const { checkpoints, total } = await service.list();
    expect(checkpoints.map(({ id }) => id)).toEqual(['a@2', 'c@1', 'b@2', 'a@1', 'b@1']);
    expect(total).toBe(5);
    const times = checkpoints.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().reverse());
  });

  it('has what fits the query, and tells how many there are beside the page', async () => {
    const place = await Place.make();
    const service = place.service();
    for (let n = 1; n <= 6; n += 1) {
      const tags = n % 2 === 0 ? ['even', `n${n}`] : [];
      const agentId = n > 3 ? 'late' : 'early';
      await service.save({ sessionId: 's', context: { n }, agentId, metadata: { tags, name: `no ${n}` } });
      place.clock.advance(1_000);
    }
    const start = place.clock.nowMs() - 6_000;
    const at = (n: number) => new Date(start + (n - 1) * 1_000).toISOString();
    const numbers = async (query: ListQuery) =>
      (await service.list(query)).checkpoints.map(({ number }) => number);
    expect(await numbers({ tag: 'even' })).toEqual([6, 4, 2]);
    expect(await numbers({ sessionId: 's', agentId: 'late' })).toEqual([6, 5, 4]);
    expect(await numbers({ after: at(2), before: at(4) })).toEqual([3, 2]);
    expect(await numbers({ sessionId: 's', limit: 2, offset: 1 })).toEqual([5, 4]);
    expect(await numbers({ tag: 'none' })).toEqual([]);
    expect((await service.list({ tag: 'even', limit: 1, offset: 9 })).total).toBe(3);
    expect((await service.list({ limit: 1 })).checkpoints[0]).toMatchObject({
      name: 'no 6',
      tags: ['even', 'n6'],
    });
  });

  it('has 20 entries where nothing is said', async () => {
    const service = (await Place.make()).service();
    for (let n = 1; n <= 21; n += 1) await service.save({ sessionId: 's', context: { n } });
    expect(await service.list({ sessionId: 's' })).toMatchObject({ total: 21, checkpoints: { length: 20 } });
  });

  it.each<[ListQuery]>([
    [{ limit: 0 }],
    [{ limit: 1_001 }],
    [{ limit: 1.5 }],
    [{ offset: -1 }],
    [{ after: 'yesterday' }],
    [{ before: '' }],
  ])('refuses %j', async (query) => {
    const service = (await Place.make()).service();
    await service.save({ sessionId: 's', context: {} });
    expect((await errorOf(service.list(query))).code).toBe('INVALID_ARGUMENT');
    expect((await errorOf(service.list({ ...query, sessionId: 's' }))).code).toBe('INVALID_ARGUMENT');
  });

  it('refuses a query that is wrong also where there are no checkpoints', async () => {
    const service = (await Place.make()).service();
    expect((await errorOf(service.list({ after: 'yesterday' }))).code).toBe('INVALID_ARGUMENT');
  });

  it('is empty without checkpoints, and knows no session that has none', async () => {
    const place = await Place.make();
    expect(await place.service().list()).toMatchObject({ checkpoints: [], total: 0 });
    expect((await errorOf(place.service().list({ sessionId: 's' }))).code).toBe('SESSION_NOT_FOUND');
    expect(await fs.readdir(place.root)).toEqual([]);
  });
});

describe('an archived checkpoint', () => {
  it('is in no list that does not ask for it, and is loaded by its id', async () => {
    const place = await Place.make();
    const service = place.service();
    for (let n = 1; n <= 3; n += 1) await service.save({ sessionId: 's', context: { n } });
    await service.archive('s@3');
    const ids = async (query: ListQuery, by = place.service()) =>
      (await by.list(query)).checkpoints.map(({ id, status }) => `${id} ${status}`);
    expect(await ids({})).toEqual(['s@2 active', 's@1 active']);
    expect(await ids({ sessionId: 's', status: 'all' })).toEqual([
      's@3 archived',
      's@2 active',
      's@1 active',
    ]);
    expect(await ids({ status: 'archived' })).toEqual(['s@3 archived']);
    expect((await place.service().load({ checkpointId: 's@3' })).context).toEqual({ n: 3 });
  });

  it('is not the newest one of its session: that one is loaded, and the same context is saved anew', async () => {
    const place = await Place.make();
    const service = place.service();
    for (let n = 1; n <= 2; n += 1) await service.save({ sessionId: 's', context: { n } });
    await service.archive('s@2');
    expect((await place.service().load({ sessionId: 's' })).context).toEqual({ n: 1 });
    const saved = await place.service().save({ sessionId: 's', context: { n: 2 } });
    expect([saved.status, saved.metadata.status]).toEqual(['SAVED', 'active']);
  });

  it('is active again when that is undone, also after the history was summed up', async () => {
    const place = await Place.make();
    const service = place.service();
    for (let n = 1; n <= 3; n += 1) await service.save({ sessionId: 's', context: { n } });
    await service.archive('s@1');
    await service.archive('s@2');
    await service.unarchive('s@2');
    // Every change is one more record that is no longer needed.
    for (let n = 0; n < 1_000; n += 1) await service[n % 2 === 0 ? 'archive' : 'unarchive']('s@3');
    expect(await place.journal('s')).toContain('"type":"base"');
    const { checkpoints } = await place.service().list({ status: 'all' });
    expect(checkpoints.map(({ status }) => status)).toEqual(['active', 'active', 'archived']);
  });

  it('that does not exist is refused, and nothing is written', async () => {
    const place = await Place.make();
    const service = place.service();
    await service.save({ sessionId: 's', context: {} });
    const before = await place.journal('s');
    expect((await errorOf(service.archive('s@9'))).code).toBe('CHECKPOINT_NOT_FOUND');
    expect((await errorOf(service.archive('none@1'))).code).toBe('CHECKPOINT_NOT_FOUND');
    await service.unarchive('s@1'); // it is not archived
    expect(await place.journal('s')).toBe(before);
    const wrong = { status: 'old' } as unknown as ListQuery;
    expect((await errorOf(service.list(wrong))).details).toMatchObject({ field: 'status' });
  });
});

describe('sessions', () => {
  it('are told with what their checkpoints have in common; the one that was used last comes first', async () => {
    const place = await Place.make();
    const service = place.service();
    const [first, later] = [place.clock.nowMs(), place.clock.nowMs() + DAY_MS];
    await service.save({
      sessionId: 'a',
      workflowId: 'w',
      context: { n: 1 },
      metadata: { tags: ['y', 'x'] },
    });
    await service.save({ sessionId: 'a', context: { n: 2 }, metadata: { tags: ['z', 'x'] } });
    await service.save({ sessionId: 'b', context: { n: 1 } });
    place.clock.advance(DAY_MS);
    await service.load({ sessionId: 'a' });
    const sessions = await place.service().sessions();
    expect(sessions.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(sessions[0]).toEqual({
      id: 'a',
      createdAt: new Date(first).toISOString(),
      lastAccessedAt: new Date(later).toISOString(),
      workflowId: 'w',
      tags: ['x', 'y', 'z'],
      totalSizeBytes: await place.packBytes('a'),
      contextSizeBytes: 14,
      checkpoints: 2,
      encrypted: false,
      criticalKeys: [],
    });
    expect(await place.service().session('a')).toEqual(sessions[0]);
    expect(await place.service().stats()).toMatchObject({
      sessions: 2,
      checkpoints: 3,
      contextSizeBytes: 21,
      largest: [{ id: 'a' }, { id: 'b' }],
    });
    expect((await errorOf(service.session('c'))).code).toBe('SESSION_NOT_FOUND');
  });

  it('are there after their last checkpoint was removed, and go on with new numbers', async () => {
    const place = await Place.make();
    const service = place.service();
    await service.save({ sessionId: 's', context: { n: 1 } });
    await service.delete('s@1');
    expect(await service.session('s')).toMatchObject({ checkpoints: 0, totalSizeBytes: 0 });
    expect(await service.list({ sessionId: 's' })).toMatchObject({ checkpoints: [], total: 0 });
    expect((await errorOf(service.load({ sessionId: 's' }))).code).toBe('CHECKPOINT_NOT_FOUND');
    const again = await place.service().save({ sessionId: 's', context: { n: 1 } });
    expect(again.status).toBe('SAVED');
    expect(again.metadata.number).toBeGreaterThan(1);
  });

  it('are read without being noted where nothing can be written', async () => {
    const place = await Place.make();
    await place.service().save({ sessionId: 's', context: { n: 1 } });
    await fs.mkdir(place.ofSession('s', 'access.json'));
    const service = place.service();
    expect((await service.load({ sessionId: 's' })).context).toEqual({ n: 1 });
    expect((await service.session('s')).checkpoints).toBe(1);
  });
});

describe('what changed', () => {
  it('is told from one checkpoint to another', async () => {
    const service = (await Place.make()).service();
    await service.save({ sessionId: 's', context: { a: 1, b: { c: [1] } } });
    await service.save({ sessionId: 't', context: { a: 2, b: { c: [1, 2] } } });
    expect(await service.diff('s@1', 't@1')).toEqual(
      expect.arrayContaining([
        { op: 'replace', path: '/a', value: 2 },
        { op: 'add', path: '/b/c/1', value: 2 },
      ]),
    );
    expect(await service.diff('s@1', 's@1')).toEqual([]);
    expect((await errorOf(service.diff('s@1', 's@9'))).code).toBe('CHECKPOINT_NOT_FOUND');
  });
});
