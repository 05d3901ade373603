import { describe, expect, it } from 'vitest';
import { bigContext, errorOf, Place } from './checkpoint-kit.js';

describe('closing', () => {
  it('waits for what is under way', async () => {
    const place = await Place.make();
    const service = place.service();
    await service.stats(); // it is open
    const context = bigContext(1, 200);
    let isSaved = false;
    const saving = service.save({ sessionId: 's', context }).then(() => (isSaved = true));
    await Promise.resolve().then(() => {}); // it has begun
    while ((await place.packs('s')).length === 0 && !isSaved) await Promise.resolve();
    await service.close();
    expect(isSaved).toBe(true);
    await saving;
    expect((await place.service().load({ sessionId: 's' })).context).toEqual(context);
  });

  it('refuses what comes after it', async () => {
    const service = (await Place.make()).service();
    await service.save({ sessionId: 's', context: { n: 1 } });
    await service.close();
    for (const work of [
      () => service.save({ sessionId: 's', context: { n: 2 } }),
      () => service.load({ sessionId: 's' }),
      () => service.load({ checkpointId: 's@1' }),
      () => service.view({ sessionId: 's', budget: 100 }),
      () => service.list({ sessionId: 's' }),
      () => service.session('s'),
      () => service.metadata({ sessionId: 's' }),
      () => service.markCritical({ sessionId: 's', contextKey: 'n' }),
      () => service.delete('s@1'),
      () => service.verify({ sessionId: 's' }),
      () => service.prune({ sessionId: 's' }),
    ])
      expect((await errorOf(work())).code).toBe('JOURNAL_CLOSED');
  });

  it.each([
    ['list', (service: Closed) => service.list()],
    ['sessions', (service: Closed) => service.sessions()],
    ['stats', (service: Closed) => service.stats()],
    ['verify', (service: Closed) => service.verify()],
    ['prune', (service: Closed) => service.prune()],
  ])('refuses what is about all sessions, too: %s', async (_, work) => {
    const service = (await Place.make()).service();
    await service.save({ sessionId: 's', context: { n: 1 } });
    await service.close();
    expect((await errorOf(work(service))).code).toBe('JOURNAL_CLOSED');
  });

  it('may be done twice, and before anything was done', async () => {
    const service = (await Place.make()).service();
    await service.close();
    await service.close();
    expect((await errorOf(service.list())).code).toBe('JOURNAL_CLOSED');
  });
});

type Closed = ReturnType<Place['service']>;
