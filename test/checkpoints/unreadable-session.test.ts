/** One session that cannot be read does not keep the others. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { errorOf, Place } from './checkpoint-kit.js';

/** The journal of one session is a link to somewhere else. */
async function store() {
  const place = await Place.make();
  const first = place.service();
  for (const sessionId of ['bad', 'good'])
    for (const n of [1, 2, 3]) await first.save({ sessionId, context: { n } });
  await first.close();
  await fs.rename(place.journalFile('bad'), place.file('elsewhere'));
  await fs.symlink(place.file('elsewhere'), place.journalFile('bad'));
  return { place, service: place.service() };
}
const problems = [{ sessionId: 'bad', message: expect.any(String) as string }];

describe('beside a session that cannot be read the others', () => {
  it('are saved and loaded', async () => {
    const { service } = await store();
    expect((await service.save({ sessionId: 'good', context: { n: 4 } })).checkpointId).toBe('good@4');
    expect((await service.save({ sessionId: 'new', context: {} })).status).toBe('SAVED');
    expect((await service.load({ sessionId: 'good' })).context).toEqual({ n: 4 });
    await errorOf(service.load({ sessionId: 'bad' }));
    await errorOf(service.save({ sessionId: 'bad', context: { n: 4 } }));
  });

  it('are listed and counted, and the one is named', async () => {
    const { service } = await store();
    const list = await service.list();
    expect(list).toMatchObject({ total: 3, problems });
    expect(list.checkpoints.map(({ id }) => id)).toEqual(['good@3', 'good@2', 'good@1']);
    expect((await service.sessions()).map(({ id }) => id)).toEqual(['good']);
    expect(await service.stats()).toMatchObject({ sessions: 1, checkpoints: 3, problems });
  });

  it('are pruned, and the one is named and stays as it is', async () => {
    const { place, service } = await store();
    const packs = await place.packs('bad');
    const report = await service.prune({ maxCheckpoints: 1, orphanGraceMinutes: 0 });
    expect(report.removed.map(({ checkpoint }) => checkpoint.id)).toEqual(['good@1', 'good@2']);
    expect(report.problems).toEqual(problems);
    expect(await place.packs('bad')).toEqual(packs);
  });

  it('are verified, and the one is named', async () => {
    const { service } = await store();
    const report = await service.verify();
    expect(report.ok).toBe(false);
    expect(new Set(report.problems.map(({ sessionId }) => sessionId))).toEqual(new Set(['bad']));
    expect(report.checkpoints).toBe(3);
    expect(report.heads.map(({ sessionId }) => sessionId)).toEqual(['good']);
  });
});

describe('where all can be read', () => {
  it('no problem is told', async () => {
    const service = (await Place.make()).service();
    await service.save({ sessionId: 's', context: {} });
    expect((await service.list()).problems).toEqual([]);
    expect((await service.stats()).problems).toEqual([]);
    expect((await service.prune()).problems).toEqual([]);
  });
});
