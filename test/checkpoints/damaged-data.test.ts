/** Saving and loading while data is damaged or taken away. */
import fs from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { bigContext, errorOf, Place, withBlobs } from './checkpoint-kit.js';

afterEach(() => void vi.restoreAllMocks());

/** Two checkpoints, of which the second uses the data of the first; and the path of that data. */
async function store() {
  const place = await Place.make();
  const service = place.service();
  const context = bigContext(1, 20);
  await service.save({ sessionId: 's', context });
  const [file] = await place.packs('s');
  await service.save({ sessionId: 's', context: { ...context, n: 2 } });
  return { place, service, file: file!, context: { ...context, n: 3 }, newest: { ...context, n: 2 } };
}

describe('a context that is the same as the newest', () => {
  it.each<[string, (file: string) => Promise<void>]>([
    ['is damaged', (file) => fs.writeFile(file, 'x'.repeat(100))],
    ['is gone', (file) => fs.rm(file)],
  ])('is saved whole where the data of the newest %s', async (_, damage) => {
    const { place, file, newest } = await store();
    await fs.chmod(file, 0o600);
    await damage(file);
    const service = place.service();
    expect((await errorOf(service.load({ sessionId: 's' }))).code).toBe('CHECKPOINT_DAMAGED');
    const saved = await service.save({ sessionId: 's', context: newest });
    expect(saved).toMatchObject({ status: 'SAVED', checkpointId: 's@3' });
    for (const each of [service, place.service()])
      expect((await each.load({ sessionId: 's' })).context).toEqual(newest);
    expect((await service.save({ sessionId: 's', context: newest })).status).toBe('SKIPPED_UNCHANGED');
  });
});

describe('data of an earlier checkpoint that was deleted', () => {
  it('is not built on by a process that is new', async () => {
    const { place, file, context } = await store();
    await fs.rm(file);
    await place.service().save({ sessionId: 's', context });
    expect((await place.service().load({ checkpointId: 's@3' })).context).toEqual(context);
  });

  it('is not built on by a process that knew it, a minute later', async () => {
    const { place, service, file, context } = await store();
    await fs.rm(file);
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_001);
    await service.save({ sessionId: 's', context });
    expect((await place.service().load({ checkpointId: 's@3' })).context).toEqual(context);
  });
});

describe('a checkpoint that somebody else removes while it is loaded', () => {
  it('is not found', async () => {
    const { place, service, file } = await store();
    const beforeGet = async () => {
      if ((await service.list({ sessionId: 's' })).total === 0) return;
      await service.delete('s@1');
      await service.delete('s@2');
      await fs.rm(file);
    };
    const loading = place.service({ backend: withBlobs(place.storage(), { beforeGet }) });
    expect((await errorOf(loading.load({ checkpointId: 's@1' }))).code).toBe('CHECKPOINT_NOT_FOUND');
  });
});
