/** Faults for which an earlier program of this kind was abandoned. Each test here fails when its fault comes back. */
import { describe, expect, it } from 'vitest';
import type { CheckpointConfigInit } from '../../src/checkpoints/config/checkpoint-config.js';
import type { JsonObject } from '../../src/core/json.js';
import { appendRecords, bigContext, child, errorOf, linesOf, noise, Place } from './checkpoint-kit.js';

describe('compression', () => {
  it.each(['basic', 'standard', 'aggressive'] as const)('keeps every key at level %s', async (level) => {
    const place = await Place.make();
    const config: CheckpointConfigInit = { compression: { level, minSizeForCompression: 0 } };
    const context: JsonObject = {
      temperature: 0.7,
      template: { attempts: 3, tmp: null, temp: [], debug: {}, log: '' },
      dialog: [{ catalog: false, login: '' }],
      padding: 'x'.repeat(5_000),
    };
    const { metadata } = await place.service({ config }).save({ sessionId: 's', context });
    expect(metadata.compression).toBe('gzip');
    const { context: loaded } = await place.service().load({ sessionId: 's' });
    expect(loaded).toEqual(context);
    expect(JSON.stringify(loaded)).toBe(JSON.stringify(context));
  });
});

describe('the derived session id', () => {
  it('tells contexts apart that differ deep inside only', async () => {
    const service = (await Place.make()).service();
    const context = (leaf: number) => ({ user: { profile: { list: [{ leaf }] } } });
    const one = await service.save({ workflowId: 'w', context: context(1) });
    const two = await service.save({ workflowId: 'w', context: context(2) });
    expect(one.sessionId).not.toBe(two.sessionId);
    expect((await service.load({ sessionId: one.sessionId })).context).toEqual(context(1));
    expect((await service.load({ sessionId: two.sessionId })).context).toEqual(context(2));
  });

  it('is the same for the same context, and another one for another workflow', async () => {
    const service = (await Place.make()).service();
    const ids = [];
    for (const workflowId of ['w', 'w', 'x'])
      ids.push((await service.save({ workflowId, context: { a: { b: 1 } } })).sessionId);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });
});

describe('saving into a session that exists', () => {
  it('keeps its checkpoints, whatever is said of the session', async () => {
    const place = await Place.make();
    for (let n = 1; n <= 4; n += 1) {
      const about = { workflowId: `w${n}`, agentId: `a${n}`, metadata: { tags: [`t${n}`] } };
      await place.service().save({ sessionId: 's', context: { n }, ...about });
    }
    const service = place.service();
    const { total, checkpoints } = await service.list({ sessionId: 's' });
    expect(total).toBe(4);
    expect(checkpoints.map(({ id }) => id)).toEqual(['s@4', 's@3', 's@2', 's@1']);
    for (let n = 1; n <= 4; n += 1)
      expect((await service.load({ checkpointId: `s@${n}` })).context).toEqual({ n });
  });
});

describe('cleaning up', () => {
  it('keeps the data of every checkpoint that is left', async () => {
    const place = await Place.make();
    const config: CheckpointConfigInit = { storage: { orphanGraceMinutes: 0 } };
    const service = place.service({ config });
    const context = bigContext(1, 20);
    const saved: JsonObject[] = [];
    for (let n = 0; n < 5; n += 1) {
      context.messages[n * 4] = noise(n, 1_000);
      saved.push(structuredClone(context));
      await service.save({ sessionId: 's', context });
    }
    await service.delete('s@1');
    await service.delete('s@3');
    await place.age('s', 60_000);
    await service.prune({ maxCheckpoints: 2 });
    const other = place.service();
    expect((await other.verify()).problems).toEqual([]);
    expect((await other.load({ checkpointId: 's@4' })).context).toEqual(saved[3]);
    expect((await other.load({ checkpointId: 's@5' })).context).toEqual(saved[4]);
    expect((await place.packs('s')).length).toBeGreaterThan(0);
  });
});

describe('two processes that save at once', () => {
  it('both succeed; every checkpoint loads, and they are listed in their order', async () => {
    const place = await Place.make();
    const script = `
      const service = new CheckpointService({ backend: new FileStorage(root) });
      say('ready');
      await told();
      const saved = [];
      for (let n = 1; n <= 5; n += 1) {
        const context = { by: process.pid, n, same: 'y'.repeat(3000) };
        saved.push({ id: (await service.save({ sessionId: 's', context })).checkpointId, context });
      }
      await service.close();
      say(saved);`;
    const children = [child(place.root, script), child(place.root, script)];
    await Promise.all(children.map(({ said }) => said));
    for (const each of children) each.tell('go');
    const told = await Promise.all(children.map(linesOf));
    const saved = told.map((lines) => lines[1] as { id: string; context: JsonObject }[]);
    const service = place.service();
    const { checkpoints } = await service.list({ sessionId: 's' });
    expect(checkpoints.map(({ number }) => number)).toEqual(
      Array.from({ length: 10 }, (_, index) => 10 - index),
    );
    for (const own of saved) {
      expect(own).toHaveLength(5);
      const numbers = own.map(({ id }) => Number(id.split('@')[1]));
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      for (const { id, context } of own)
        expect((await service.load({ checkpointId: id })).context).toEqual(context);
    }
    expect((await service.verify()).problems).toEqual([]);
  });
});

describe('marking a key as critical', () => {
  it('has an effect on views, also of what is saved later and in another service', async () => {
    const place = await Place.make();
    const service = place.service();
    const blob = noise(1, 4_000);
    await service.save({ sessionId: 's', context: { debug: blob, n: 1 } });
    const before = await service.view({ sessionId: 's', budget: 50 });
    expect(before.context['debug']).not.toBe(blob);
    await service.markCritical({ sessionId: 's', contextKey: 'debug' });
    const later = { debug: `${blob}!`, n: 2 };
    const { metadata } = await place.service().save({ sessionId: 's', context: later });
    expect(metadata.classificationSummary).toMatchObject({ CRITICAL: { keys: 1 } });
    const other = place.service();
    expect((await other.view({ checkpointId: 's@1', budget: 50 })).context['debug']).toBe(blob);
    expect((await other.view({ sessionId: 's', budget: 50 })).context['debug']).toBe(`${blob}!`);
    expect((await other.session('s')).criticalKeys).toEqual(['debug']);
  });

  it('has an effect on retention when it is a checkpoint that is marked', async () => {
    const place = await Place.make();
    const service = place.service();
    for (let n = 1; n <= 3; n += 1) await service.save({ sessionId: 's', context: { n } });
    await service.markCritical({ checkpointId: 's@1' });
    const other = place.service({ config: { storage: { maxCheckpoints: 3 } } });
    const { removed } = await other.save({ sessionId: 's', context: { n: 4 } });
    expect(removed.map(({ id }) => id)).toEqual(['s@2']);
    expect((await place.service().metadata({ checkpointId: 's@1' })).critical).toBe(true);
  });
});

describe('a store that is there already', () => {
  it('is opened by a fresh process, which loads from it and goes on', async () => {
    const place = await Place.make();
    await place.service().save({ sessionId: 's', context: { n: 1 } });
    const script = `
      const service = new CheckpointService({ backend: new FileStorage(root) });
      say((await service.load({ sessionId: 's' })).context);
      say((await service.save({ sessionId: 's', context: { n: 2 } })).checkpointId);
      await service.close();`;
    expect(await linesOf(child(place.root, script))).toEqual([{ n: 1 }, 's@2']);
    expect((await place.service().load({ sessionId: 's' })).context).toEqual({ n: 2 });
  });

  it('by a newer release is not written to, stays as it is, and what is known in it still loads', async () => {
    const place = await Place.make();
    const first = place.service();
    await first.save({ sessionId: 's', context: { n: 1 } });
    await first.close();
    await appendRecords(place, 's', [{ type: 'of a newer kind', at: '2030-01-01T00:00:00Z', stored: 0 }]);
    await place.age('s', 86_400_000);
    const [journal, packs] = [await place.journal('s'), await place.packs('s')];
    const service = place.service({ config: { storage: { orphanGraceMinutes: 0 } } });
    const writes = [
      () => service.save({ sessionId: 's', context: { n: 2 } }),
      () => service.save({ sessionId: 's', context: { n: 1 }, force: true }),
      () => service.delete('s@1'),
      () => service.markCritical({ sessionId: 's', contextKey: 'n' }),
      () => service.markCritical({ checkpointId: 's@1' }),
    ];
    for (const write of writes) expect((await errorOf(write())).code).toBe('UNSUPPORTED_VERSION');
    await service.prune();
    expect((await service.load({ sessionId: 's' })).context).toEqual({ n: 1 });
    expect((await service.list({ sessionId: 's' })).total).toBe(1);
    expect((await service.verify()).problems).toMatchObject([{ code: 'UNSUPPORTED_VERSION' }]);
    expect(await place.journal('s')).toBe(journal);
    expect(await place.packs('s')).toEqual(packs);
  });
});
