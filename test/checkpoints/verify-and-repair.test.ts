/** What verify tells of a journal that is not whole, and what a repair makes of it. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { CheckpointServiceOptions } from '../../src/checkpoints/checkpoint-params.js';
import { EnvironmentKeys } from '../../src/storage/sealing/environment-keys.js';
import { errorOf, noise, Place } from './checkpoint-kit.js';

const OPTIONS: Record<'plain' | 'encrypted', CheckpointServiceOptions> = {
  plain: { config: { storage: { orphanGraceMinutes: 0 } } },
  encrypted: {
    config: { storage: { orphanGraceMinutes: 0 }, encryption: { enabled: true } },
    masterKeys: new EnvironmentKeys({ REKINDLE_MASTER_KEY: '11'.repeat(32) }),
  },
};

/** Of three checkpoints that share nothing, the second is not readable any more. */
async function damagedStore(options: CheckpointServiceOptions): Promise<Place> {
  const place = await Place.make();
  const service = place.service(options);
  for (const n of [1, 2, 3]) await service.save({ sessionId: 's', context: { n } });
  await service.close();
  const lines = (await place.journal('s')).split('\n');
  await fs.writeFile(place.journalFile('s'), lines.with(1, 'x'.repeat(20)).join('\n'));
  await place.age('s', 3_600_000);
  return place;
}

describe.each(['plain', 'encrypted'] as const)('a journal with a record that is missing, %s', (kind) => {
  const options = OPTIONS[kind];

  it('is told by verify, and nothing is swept', async () => {
    const place = await damagedStore(options);
    const service = place.service(options);
    const { problems } = await service.verify();
    expect(problems.length).toBeGreaterThan(0);
    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['JOURNAL_DAMAGED']));
    expect(problems.map(({ message }) => message)).toContain('Records 2 to 2 are missing.');
    expect((await service.prune()).orphans.blobs).toBe(0);
    expect(await place.packs('s')).toHaveLength(3);
  });

  it('is whole again by a repair, which notes what is lost: verify is clean, and data is swept', async () => {
    const place = await damagedStore(options);
    const service = place.service(options);
    expect(await service.repair('s')).toMatchObject({ lost: 1 });
    const last = JSON.parse((await place.journal('s')).trimEnd().split('\n').at(-1)!) as object;
    expect(last).toMatchObject({ type: 'lost', ranges: [[2, 2]] });
    expect('mac' in last).toBe(kind === 'encrypted');
    for (const each of [service, place.service(options)]) {
      expect((await each.verify()).problems).toEqual([]);
      for (const n of [1, 3]) expect((await each.load({ checkpointId: `s@${n}` })).context).toEqual({ n });
    }
    expect((await errorOf(service.load({ checkpointId: 's@2' }))).code).toBe('CHECKPOINT_NOT_FOUND');
    expect((await service.prune()).orphans.blobs).toBe(1);
    expect(await place.packs('s')).toHaveLength(2);
    expect((await service.save({ sessionId: 's', context: { n: 4 } })).checkpointId).toBe('s@5');
  });
});

describe('a repair', () => {
  it('of what is whole changes nothing, and of what is not there is refused', async () => {
    const place = await Place.make();
    const first = place.service();
    await first.save({ sessionId: 's', context: { n: 1 } });
    await first.close();
    const service = place.service();
    const journal = await place.journal('s');
    expect((await service.repair('s')).lost).toBe(0);
    expect(await place.journal('s')).toBe(journal);
    expect((await errorOf(service.repair('none'))).code).toBe('SESSION_NOT_FOUND');
  });
});

describe('verify with `mark`', () => {
  it('records what is corrupt; lists show it, until it can be loaded again', async () => {
    const place = await Place.make();
    const service = place.service();
    await service.save({ sessionId: 's', context: { text: noise(1, 3_000) } });
    await service.save({ sessionId: 's', context: { text: noise(2, 3_000) } });
    await service.archive('s@1');
    const statuses = async () =>
      (await place.service().list({ status: 'all' })).checkpoints.map(({ id, status }) => `${id} ${status}`);
    const files = await place.packs('s');
    const bytes = await Promise.all(files.map((file) => fs.readFile(file)));
    for (const file of files) await fs.writeFile(file, 'broken');
    expect((await place.service().verify()).ok).toBe(false);
    expect(await statuses()).toEqual(['s@2 active', 's@1 archived']); // it was not asked to
    await place.service().verify({ mark: true });
    expect(await statuses()).toEqual(['s@2 corrupt', 's@1 corrupt']);
    for (const [index, file] of files.entries()) await fs.writeFile(file, bytes[index]!);
    expect((await place.service().verify({ mark: true })).ok).toBe(true);
    expect(await statuses()).toEqual(['s@2 active', 's@1 archived']);
    const before = await place.journal('s');
    await place.service().verify({ mark: true });
    expect(await place.journal('s')).toBe(before);
  });
});

describe('verify', () => {
  it('knows no session that has none', async () => {
    const service = (await Place.make()).service();
    expect((await errorOf(service.verify({ sessionId: 'none' }))).code).toBe('SESSION_NOT_FOUND');
  });

  it('tells by a head that an earlier record is another one, though the last is as it was', async () => {
    const place = await Place.make();
    const other = await Place.make();
    for (const { service, name } of [
      { service: place.service(), name: 'one' },
      { service: other.service({ clock: place.clock }), name: 'two' },
    ]) {
      await service.save({ sessionId: 's', context: { n: 1 }, metadata: { name } });
      await service.save({ sessionId: 's', context: { n: 2 } });
    }
    const { heads } = await place.service().verify();
    const theirs = await other.service().verify();
    expect((await place.service().verify({ heads })).ok).toBe(true);
    const lines = async (each: Place) => (await each.journal('s')).trimEnd().split('\n');
    expect((await lines(other)).at(-1)).toBe((await lines(place)).at(-1));
    expect(theirs.ok).toBe(true);
    expect(theirs.heads[0]!.digest).not.toBe(heads[0]!.digest);
    const { problems } = await other.service().verify({ heads });
    expect(problems).toMatchObject([{ sessionId: 's', checkpointId: null, code: 'CHECKPOINT_DAMAGED' }]);
  });

  it('holds nothing against what was saved, marked and removed since a head', async () => {
    const service = (await Place.make()).service();
    await service.save({ sessionId: 's', context: { n: 1 } });
    const { heads } = await service.verify();
    await service.save({ sessionId: 's', context: { n: 2 } });
    await service.markCritical({ sessionId: 's', contextKey: 'n' });
    await service.delete('s@1');
    expect((await service.verify({ heads })).problems).toEqual([]);
  });
});
