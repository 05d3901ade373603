import fs from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ListQuery } from '../../src/checkpoints/checkpoint-query.js';
import type { JsonObject } from '../../src/core/json.js';
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
      checkpoints: 2,
      encrypted: false,
      criticalKeys: [],
    });
    expect(await place.service().session('a')).toEqual(sessions[0]);
    expect(await place.service().stats()).toMatchObject({
      sessions: 2,
      checkpoints: 3,
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

describe('a history with more than 1,000 removals', () => {
  it('is replaced by one record: everything loads, numbers go on, and others read the same', async () => {
    const place = await Place.make();
    const config = { storage: { maxCheckpoints: 2_000, orphanGraceMinutes: 0 } };
    const [service, watching] = [place.service({ config }), place.service({ config })];
    const context = { goal: 'the same in all of them' };
    await service.save({ sessionId: 's', context, critical: true });
    await repeatSave(place, 's', 1_010);
    expect((await watching.load({ sessionId: 's' })).metadata.id).toBe('s@1010');
    await service.markCritical({ sessionId: 's', contextKey: 'goal' });
    const before = await journalBytes(place, 's');
    expect((await service.prune({ sessionId: 's', maxCheckpoints: 3 })).removed).toHaveLength(1_007);
    const saved = await service.save({ sessionId: 's', context: { ...context, more: true } });
    expect(saved.metadata.number).toBeGreaterThan(1_010);
    expect(await place.journal('s')).toContain('"type":"base"');
    expect(await journalBytes(place, 's')).toBeLessThan(before);
    for (const each of [service, watching, place.service({ config })]) {
      const { checkpoints } = await each.list({ sessionId: 's' });
      expect(checkpoints.map(({ number }) => number)).toEqual([saved.metadata.number, 1_010, 1_009, 1]);
      for (const { id } of checkpoints)
        expect((await each.load({ checkpointId: id })).context).toMatchObject(context);
      expect((await each.session('s')).criticalKeys).toEqual(['goal']);
      expect((await each.metadata({ checkpointId: 's@1' })).critical).toBe(true);
      expect((await each.verify()).problems).toEqual([]);
    }
    const next = await watching.save({ sessionId: 's', context: { n: 'next' } });
    expect(next.metadata.number).toBeGreaterThan(saved.metadata.number);
    expect((await place.service().load({ checkpointId: 's@1009' })).context).toEqual(context);
  });
});

/** As if the first checkpoint had been saved so often: its record again, with the next numbers. A thousand saves take seconds. */
async function repeatSave(place: Place, session: string, upTo: number): Promise<void> {
  const storage = place.storage();
  const folder = ['checkpoints', 'sessions', session];
  const acquire = () => storage.leases.acquire([...folder, 'session.lease']).catch(() => null);
  let lease = await acquire();
  for (; !lease; lease = await acquire()) await sleep(10); // whoever saved last keeps it for a moment
  const journal = await storage.openJournal<JsonObject>([...folder, 'checkpoints'], {
    lease,
    segmentBytes: 256 * 1024,
  });
  for await (const entry of journal.read()) {
    if (entry.kind !== 'record') continue;
    const { critical: _, ...record } = entry.record;
    for (let number = 2; number <= upTo; number += 101)
      await journal.append(
        Array.from({ length: Math.min(101, upTo - number + 1) }, (_, n) => ({
          ...record,
          number: number + n,
        })),
      );
    break;
  }
  await journal.close();
  await lease.release();
  await storage.close();
}

/** Of all files of the journal. */
async function journalBytes(place: Place, session: string): Promise<number> {
  let bytes = 0;
  for (const name of await fs.readdir(place.ofSession(session)))
    if (name.startsWith('checkpoints')) {
      const stat = await fs.stat(place.ofSession(session, name));
      if (stat.isFile()) bytes += stat.size;
    }
  return bytes;
}
