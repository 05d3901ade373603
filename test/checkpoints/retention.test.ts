import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import type { CheckpointConfigInit } from '../../src/checkpoints/config/checkpoint-config.js';
import { pruneRegularly } from '../../src/checkpoints/maintenance/prune-regularly.js';
import { errorOf, noise, Place } from './checkpoint-kit.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

function limits(storage: CheckpointConfigInit['storage'] & object): { config: CheckpointConfigInit } {
  return { config: { storage } };
}

/** Checkpoints that share nothing, of about one kilobyte each. */
async function saveSome(service: CheckpointService, sessionId: string, count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1)
    await service.save({
      sessionId,
      context: { n, text: noise(n + sessionId.charCodeAt(0) * 1_000, 1_000) },
    });
}

async function left(service: CheckpointService, sessionId: string): Promise<number[]> {
  const { checkpoints } = await service.list({ sessionId });
  return checkpoints.map(({ number }) => number).reverse();
}

describe('the number of checkpoints', () => {
  it('is kept by saving: the oldest make room, and the result says which', async () => {
    const place = await Place.make();
    const service = place.service(limits({ maxCheckpoints: 2 }));
    await saveSome(service, 's', 2);
    const { removed, checkpointId } = await service.save({ sessionId: 's', context: { n: 3 } });
    expect(checkpointId).toBe('s@3');
    expect(removed).toMatchObject([{ id: 's@1', sessionId: 's', number: 1 }]);
    expect(await left(place.service(), 's')).toEqual([2, 3]);
    expect((await errorOf(service.load({ checkpointId: 's@1' }))).code).toBe('CHECKPOINT_NOT_FOUND');
  });

  it('may be one: each takes the place of the one before', async () => {
    const service = (await Place.make()).service(limits({ maxCheckpoints: 1 }));
    await saveSome(service, 's', 3);
    expect(await left(service, 's')).toEqual([3]);
  });

  it('is made to fit at once where there were too many', async () => {
    const place = await Place.make();
    await saveSome(place.service(), 's', 6);
    const { removed } = await place
      .service(limits({ maxCheckpoints: 3 }))
      .save({ sessionId: 's', context: {} });
    expect(removed.map(({ id }) => id)).toEqual(['s@1', 's@2', 's@3', 's@4']);
  });

  it('leaves what is critical alone; where nothing can go, nothing is saved', async () => {
    const place = await Place.make();
    const service = place.service(limits({ maxCheckpoints: 2 }));
    for (const n of [1, 2]) await service.save({ sessionId: 's', context: { n }, critical: true });
    const journal = await place.journal('s');
    const error = await errorOf(service.save({ sessionId: 's', context: { n: 3 } }));
    expect(error).toMatchObject({ code: 'STORAGE_QUOTA_EXCEEDED', details: { currentSize: 3, maxSize: 2 } });
    expect(await place.journal('s')).toBe(journal);
    expect(await place.packs('s')).toHaveLength(2);
  });

  it('is kept by prune, which leaves the newest and what is critical alone', async () => {
    const service = (await Place.make()).service();
    await saveSome(service, 's', 5);
    await service.markCritical({ checkpointId: 's@2' });
    const { removed, problems } = await service.prune({ maxCheckpoints: 2 });
    expect(removed.map(({ checkpoint, why }) => [checkpoint.id, why])).toEqual([
      ['s@1', 'count'],
      ['s@3', 'count'],
      ['s@4', 'count'],
    ]);
    expect(problems).toEqual([]);
    expect(await left(service, 's')).toEqual([2, 5]);
  });
});

describe('age', () => {
  it('takes away what is older, but never the newest of a session or what is critical', async () => {
    const place = await Place.make();
    const service = place.service(limits({ maxAgeDays: 10 }));
    await service.save({ sessionId: 's', context: { n: 1 }, critical: true });
    await service.save({ sessionId: 's', context: { n: 2 } });
    await service.save({ sessionId: 'old', context: { n: 1 } });
    place.clock.advance(5 * DAY_MS);
    await service.save({ sessionId: 's', context: { n: 3 } });
    place.clock.advance(5 * DAY_MS);
    await service.save({ sessionId: 's', context: { n: 4 } });
    expect((await service.prune()).removed).toEqual([]); // exactly as old as it may be
    place.clock.advance(1);
    expect((await service.prune()).removed).toMatchObject([{ checkpoint: { id: 's@2' }, why: 'age' }]);
    expect(await left(service, 's')).toEqual([1, 3, 4]);
    place.clock.advance(100 * DAY_MS);
    await service.prune({ maxAgeDays: 1 });
    expect([await left(service, 's'), await left(service, 'old')]).toEqual([[1, 4], [1]]);
  });
});

describe('a save', () => {
  it('takes away what is too old of its owner, and says what', async () => {
    const place = await Place.make();
    const service = place.service(limits({ maxAgeDays: 10 }));
    await service.save({ sessionId: 's', context: { n: 1 }, critical: true });
    await service.save({ sessionId: 's', context: { n: 2 } });
    await service.save({ sessionId: 's', context: { n: 3 }, agentId: 'other' });
    place.clock.advance(10 * DAY_MS);
    expect((await service.save({ sessionId: 's', context: { n: 4 } })).removed).toEqual([]);
    place.clock.advance(1);
    const { removed } = await service.save({ sessionId: 's', context: { n: 5 } });
    expect(removed.map(({ id }) => id)).toEqual(['s@2']);
    expect(await left(place.service(), 's')).toEqual([1, 3, 4, 5]);
  });

  it('takes nothing away by age where the limit is null', async () => {
    const place = await Place.make();
    const service = place.service(limits({ maxAgeDays: null }));
    await service.save({ sessionId: 's', context: { n: 1 } });
    place.clock.advance(10_000 * DAY_MS);
    expect((await service.save({ sessionId: 's', context: { n: 2 } })).removed).toEqual([]);
    expect((await service.prune()).removed).toEqual([]);
  });
});

describe('pruning from time to time', () => {
  const runs = async (service: CheckpointService, prune: () => Promise<void>, stopAfterMs = 60) => {
    const failures: unknown[] = [];
    const ended = new AbortController();
    const running = pruneRegularly(service, {
      ...{
        signal: ended.signal,
        prune,
        onFailed: (thrown: unknown) => void failures.push(thrown),
        firstMs: 1,
      },
    });
    setTimeout(() => ended.abort(), stopAfterMs);
    await running;
    return failures;
  };

  it('goes on as often as the configuration says, until it is ended', async () => {
    const service = (await Place.make()).service(limits({ pruneEveryHours: 1 / 3_600_000 }));
    let times = 0;
    await runs(service, async () => void (times += 1), 200);
    expect(times).toBeGreaterThan(2);
  });

  it('does nothing where the configuration says null', async () => {
    const service = (await Place.make()).service(limits({ pruneEveryHours: null }));
    let times = 0;
    expect(await runs(service, async () => void (times += 1))).toEqual([]);
    expect(times).toBe(0);
  });

  it('tells what fails, and waits at least an hour for the next time', async () => {
    const service = (await Place.make()).service(limits({ pruneEveryHours: 1 / 3_600_000 }));
    expect(await runs(service, () => Promise.reject(new RangeError('full')))).toEqual([
      new RangeError('full'),
    ]);
  });
});

describe('bytes', () => {
  it('of a session take away its oldest', async () => {
    const place = await Place.make();
    await saveSome(place.service(), 's', 5);
    const all = await place.packBytes('s');
    const service = place.service(limits({ maxSessionSize: Math.ceil(all / 2) }));
    const { removed, bytesBefore, bytesAfter } = await service.prune();
    expect(removed.map(({ checkpoint, why }) => [checkpoint.number, why])).toEqual([
      [1, 'session bytes'],
      [2, 'session bytes'],
      [3, 'session bytes'],
    ]);
    expect(bytesBefore).toBe(all);
    expect(bytesAfter).toBe((await service.session('s')).totalSizeBytes);
    expect(bytesAfter).toBeLessThanOrEqual(all / 2);
  });

  it('of all sessions take away the oldest of all, and leave the newest of each', async () => {
    const place = await Place.make();
    const service = place.service();
    for (const sessionId of ['a', 'b', 'a', 'b', 'a']) {
      place.clock.advance(1_000);
      await service.save({ sessionId, context: { text: noise(place.clock.nowMs() / 1_000, 1_000) } });
    }
    const { totalSizeBytes } = await service.stats();
    const tight = place.service(limits({ maxTotalSize: Math.ceil((totalSizeBytes * 3) / 5) + 50 }));
    const { removed } = await tight.prune();
    expect(removed.map(({ checkpoint, why }) => [checkpoint.id, why]).sort()).toEqual([
      ['a@1', 'total bytes'],
      ['b@1', 'total bytes'],
    ]);
    await place.service(limits({ maxTotalSize: 1 })).prune();
    expect([await left(service, 'a'), await left(service, 'b')]).toEqual([[3], [2]]);
  });

  it('above a limit are not saved: the error has both figures, and nothing is written', async () => {
    const place = await Place.make();
    await saveSome(place.service(), 's', 2);
    const [journal, packs] = [await place.journal('s'), await place.packs('s')];
    const now = await place.packBytes('s');
    const save = (storage: CheckpointConfigInit['storage'] & object, sessionId: string) =>
      errorOf(place.service(limits(storage)).save({ sessionId, context: { text: noise(99, 1_000) } }));
    for (const error of [
      await save({ maxSessionSize: now + 100 }, 's'),
      await save({ maxTotalSize: now + 100 }, 's'),
      await save({ maxTotalSize: now + 100 }, 'another'),
    ]) {
      expect(error).toMatchObject({ code: 'STORAGE_QUOTA_EXCEEDED', details: { maxSize: now + 100 } });
      expect(error.details['currentSize']).toBeGreaterThan(now + 100);
    }
    expect([await place.journal('s'), await place.packs('s')]).toEqual([journal, packs]);
    expect(await place.packs('another')).toEqual([]);
    expect((await place.service().sessions()).map(({ id }) => id)).toEqual(['s']);
  });

  it('that another process took away make room at once', async () => {
    const place = await Place.make();
    const other = place.service();
    await saveSome(other, 's', 3);
    const service = place.service(limits({ maxTotalSize: (await place.packBytes('s')) + 100 }));
    const save = () => service.save({ sessionId: 'another', context: { text: noise(99, 1_000) } });
    expect((await errorOf(save())).code).toBe('STORAGE_QUOTA_EXCEEDED');
    await other.delete('s@1');
    await other.delete('s@2');
    expect((await save()).status).toBe('SAVED');
  });

  it('that were taken away make room at once, as the advice says', async () => {
    const place = await Place.make();
    await saveSome(place.service(), 's', 3);
    const service = place.service(limits({ maxTotalSize: (await place.packBytes('s')) + 100 }));
    const save = () => service.save({ sessionId: 'another', context: { text: noise(99, 1_000) } });
    expect((await errorOf(save())).code).toBe('STORAGE_QUOTA_EXCEEDED');
    await service.prune({ maxCheckpoints: 1 });
    expect((await save()).status).toBe('SAVED');
    await service.delete('another@1');
    expect((await save()).status).toBe('SAVED');
  });
});

describe('pruning', () => {
  it('knows no session that has none', async () => {
    const service = (await Place.make()).service();
    await saveSome(service, 's', 1);
    expect((await errorOf(service.prune({ sessionId: 'none' }))).code).toBe('SESSION_NOT_FOUND');
    expect((await service.prune({ sessionId: 's' })).problems).toEqual([]);
  });
});

describe('a dry run', () => {
  it('never names the newest, also where all others are critical', async () => {
    const service = (await Place.make()).service();
    await saveSome(service, 's', 3);
    for (const checkpointId of ['s@1', 's@2']) await service.markCritical({ checkpointId });
    const { removed, bytesBefore, bytesAfter } = await service.prune({ maxCheckpoints: 1, dryRun: true });
    expect(removed).toEqual([]);
    expect(bytesAfter).toBe(bytesBefore);
  });

  it('changes nothing, and names what a real one takes away', async () => {
    const place = await Place.make();
    const service = place.service(limits({ orphanGraceMinutes: 0 }));
    await saveSome(service, 's', 4);
    await service.delete('s@1');
    await place.age('s', 60_000);
    const [journal, packs] = [await place.journal('s'), await place.packs('s')];
    const dry = await service.prune({ dryRun: true, maxCheckpoints: 1 });
    expect([await place.journal('s'), await place.packs('s')]).toEqual([journal, packs]);
    expect(dry.dryRun).toBe(true);
    expect(dry.removed.map(({ checkpoint }) => checkpoint.id)).toEqual(['s@2', 's@3']);
    expect(dry.orphans.blobs).toBeGreaterThanOrEqual(1);
    const real = await service.prune({ maxCheckpoints: 1 });
    expect(real.removed.map(({ checkpoint, why }) => [checkpoint.id, why])).toEqual(
      dry.removed.map(({ checkpoint, why }) => [checkpoint.id, why]),
    );
    expect([real.bytesBefore, real.bytesAfter]).toEqual([dry.bytesBefore, dry.bytesAfter]);
    expect(await place.packs('s')).toHaveLength(1);
  });
});

describe('data that nothing refers to', () => {
  it('goes only past the grace time', async () => {
    const place = await Place.make();
    const service = place.service(limits({ orphanGraceMinutes: 60 }));
    await saveSome(service, 's', 2);
    await service.delete('s@1');
    expect((await service.prune()).orphans).toEqual({ blobs: 0, bytes: 0 });
    await place.age('s', HOUR_MS - 60_000);
    await service.prune();
    expect(await place.packs('s')).toHaveLength(2);
    await place.age('s', HOUR_MS + 60_000);
    expect((await service.verify()).orphans.blobs).toBe(1);
    expect((await service.prune()).orphans).toMatchObject({ blobs: 1 });
    expect(await place.packs('s')).toHaveLength(1);
    expect((await service.verify()).problems).toEqual([]);
  });

  it('stays for that time after its checkpoint was removed, however old it is: somebody may be reading it', async () => {
    const place = await Place.make();
    const service = place.service(limits({ orphanGraceMinutes: 60, maxCheckpoints: 2 }));
    await saveSome(service, 's', 2);
    await place.age('s', 10 * HOUR_MS);
    await service.save({ sessionId: 's', context: { n: 3 } }); // makes room
    await service.prune();
    expect(await place.packs('s')).toHaveLength(3);
    await place.age('s', 2 * HOUR_MS);
    expect((await place.service(limits({ orphanGraceMinutes: 60 })).prune()).orphans.blobs).toBe(1);
    expect(await place.packs('s')).toHaveLength(2);
  });

  it.each<[string, (place: Place) => Promise<void>]>([
    [
      'is damaged',
      async (place) => {
        const text = await place.journal('s');
        await fs.writeFile(place.journalFile('s'), text.replace('"number":2', '"number":9'));
      },
    ],
    ['is missing', (place) => fs.rm(place.journalFile('s'))],
    [
      'lost its beginning',
      async (place) => {
        const text = await place.journal('s');
        await fs.writeFile(place.journalFile('s'), text.slice(text.indexOf('\n') + 1));
      },
    ],
  ])('is not told from other data, and stays, where the journal %s', async (_, damage) => {
    const place = await Place.make();
    const first = place.service();
    await saveSome(first, 's', 3);
    await first.close();
    await damage(place);
    await place.age('s', 10 * HOUR_MS);
    const packs = await place.packs('s');
    const service = place.service(limits({ orphanGraceMinutes: 0 }));
    expect((await service.prune()).orphans).toEqual({ blobs: 0, bytes: 0 });
    expect((await service.prune({ maxCheckpoints: 1 })).orphans).toEqual({ blobs: 0, bytes: 0 });
    expect(await place.packs('s')).toEqual(packs);
  });
});
