/** A journal that grew long is replaced by one record, and nobody notices. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { appendRecords, bigContext, Place } from './checkpoint-kit.js';

const SPENT = 1_010;

describe('a history with more than 1,000 records that are of no use any more', () => {
  it('is replaced by one record: everything loads, numbers go on, and others read the same', async () => {
    const place = await Place.make();
    const [service, watching] = [place.service(), place.service()];
    const context = bigContext(1, 10);
    await service.save({ sessionId: 's', context, critical: true });
    for (const n of [2, 3, 4]) await service.save({ sessionId: 's', context: { ...context, n } });
    await service.delete('s@2');
    expect((await watching.load({ sessionId: 's' })).metadata.id).toBe('s@4');
    const keys = Array.from({ length: 10 }, (_, n) => `key ${n} ${'x'.repeat(400)}`);
    await appendRecords(place, 's', marks(keys, SPENT));
    const before = await journalBytes(place, 's');
    await service.markCritical({ sessionId: 's', contextKey: 'goal' });
    const saved = await service.save({ sessionId: 's', context: { ...context, more: true } });
    expect(saved.metadata.number).toBeGreaterThan(SPENT);
    expect(await place.journal('s')).toContain('"type":"base"');
    expect(await journalBytes(place, 's')).toBeLessThan(before);
    for (const each of [service, watching, place.service()]) {
      const { checkpoints } = await each.list({ sessionId: 's' });
      expect(checkpoints.map(({ number }) => number)).toEqual([saved.metadata.number, 4, 3, 1]);
      for (const { id } of checkpoints)
        expect((await each.load({ checkpointId: id })).context).toMatchObject(context);
      expect((await each.session('s')).criticalKeys).toEqual([...keys, 'goal'].sort());
      expect((await each.metadata({ checkpointId: 's@1' })).critical).toBe(true);
      expect((await each.metadata({ checkpointId: 's@3' })).critical).toBe(false);
      expect((await each.verify()).problems).toEqual([]);
    }
    const next = await watching.save({ sessionId: 's', context: { n: 'next' } });
    expect(next.metadata.number).toBe(saved.metadata.number + 1);
    expect((await place.service().load({ checkpointId: 's@3' })).context).toEqual({ ...context, n: 3 });
  });

  it('has heads that go on: one of before is not held against it, one of after it still tells', async () => {
    const place = await Place.make();
    const service = place.service();
    await service.save({ sessionId: 's', context: { n: 1 } });
    const { heads: before } = await service.verify();
    await appendRecords(place, 's', marks(['key'], SPENT));
    await service.markCritical({ sessionId: 's', contextKey: 'n' });
    expect(await place.journal('s')).toContain('"type":"base"');
    expect((await service.verify({ heads: before })).problems).toEqual([]);
    const { heads: after } = await service.verify();
    await service.save({ sessionId: 's', context: { n: 2 } });
    expect((await place.service().verify({ heads: after })).problems).toEqual([]);
    const wrong = after.map((head) => ({ ...head, digest: before[0]!.digest }));
    expect((await place.service().verify({ heads: wrong })).ok).toBe(false);
  });

  it('is not replaced while one of them is missing: what it said would be forgotten', async () => {
    const place = await Place.make();
    const first = place.service();
    for (const n of [1, 2, 3]) await first.save({ sessionId: 's', context: { n } });
    await first.close();
    await appendRecords(place, 's', marks(['key'], SPENT));
    const lines = (await place.journal('s')).split('\n');
    await fs.writeFile(place.journalFile('s'), lines.with(1, 'x'.repeat(20)).join('\n'));
    const service = place.service();
    await service.markCritical({ sessionId: 's', contextKey: 'n' });
    expect(await place.journal('s')).not.toContain('"type":"base"');
    expect((await service.verify()).ok).toBe(false);
    expect((await service.load({ checkpointId: 's@1' })).context).toEqual({ n: 1 });
  });
});

/** As many marks would leave them; calling for each takes seconds. */
function marks(keys: readonly string[], count: number) {
  const at = '2026-01-01T00:00:00.000Z';
  return Array.from({ length: count }, (_, n) => ({
    type: 'mark',
    at,
    contextKey: keys[n % keys.length]!,
    stored: 0,
  }));
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
