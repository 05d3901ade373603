import fs from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RekindleError } from '../../src/core/errors.js';
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { AWKWARD_VALUES } from '../../src/storage/testing/awkward-samples.js';
import { runParameters } from '../property/seed.js';
import { anyContext, bigContext, errorOf, noise, Place, withBlobs } from './checkpoint-kit.js';

describe('a context that was saved', () => {
  it('comes back exactly, with its keys in their order, whatever JSON it is', async () => {
    const place = await Place.make();
    const service = place.service();
    const other = place.service();
    let n = 0;
    const comesBack = async (context: JsonObject) => {
      const text = JSON.stringify(context);
      const { checkpointId } = await service.save({ sessionId: `s${n++ % 3}`, context, force: true });
      expect(JSON.stringify(context)).toBe(text);
      const { context: loaded } = await other.load({ checkpointId });
      expect(JSON.stringify(loaded)).toBe(text);
      expect(loaded).toEqual(context);
    };
    await fc.assert(fc.asyncProperty(anyContext(), comesBack), runParameters('save and load', 25));
  });

  it('comes back exactly where it is awkward', async () => {
    const place = await Place.make();
    const service = place.service({ config: { storage: { maxCheckpoints: 1_000 } } });
    for (const [title, value] of Object.entries(AWKWARD_VALUES)) {
      const { checkpointId } = await service.save({ sessionId: 's', context: { value } });
      const { context } = await service.load({ checkpointId });
      expect(JSON.stringify(context), title).toBe(JSON.stringify({ value }));
    }
    const list = Array.from({ length: 100_000 }, (_, index) => index % 7);
    await service.save({ sessionId: 's', context: { list } });
    expect((await place.service().load({ sessionId: 's' })).context['list']).toEqual(list);
  });

  it('comes back exactly after any edits of it, also from its earlier checkpoints', async () => {
    const { seed, numRuns } = runParameters('edits of one context', 15);
    const random = new SeededRandom(seed);
    const place = await Place.make();
    const context = bigContext(seed % 1_000, 40);
    const texts = new Map<string, string>();
    let service = place.service();
    for (let n = 0; n < numRuns; n += 1) {
      edit(context, random);
      if (random.below(5) === 0) service = place.service(); // as after a restart
      if (texts.size > 3 && random.below(4) === 0) {
        const id = random.pick([...texts.keys()]);
        await service.delete(id);
        texts.delete(id);
      }
      const { checkpointId } = await service.save({ sessionId: 's', context, force: true });
      texts.set(checkpointId, JSON.stringify(context));
    }
    const other = place.service();
    for (const [checkpointId, text] of texts)
      expect(JSON.stringify((await other.load({ checkpointId })).context), checkpointId).toBe(text);
    expect((await other.verify()).problems).toEqual([]);
  });

  it('is not what a caller makes of it later', async () => {
    const service = (await Place.make()).service();
    const context = { list: [1] };
    const saving = service.save({ sessionId: 's', context });
    context.list.push(2);
    await saving;
    expect((await service.load({ sessionId: 's' })).context).toEqual({ list: [1] });
  });
});

describe('a context that is the same as the newest', () => {
  it('is not saved again, unless that is forced', async () => {
    const place = await Place.make();
    const service = place.service();
    const context = { a: 1, b: { c: [1, 2], d: null } };
    const first = await service.save({ sessionId: 's', context });
    const again = await service.save({ sessionId: 's', context: { b: { d: null, c: [1, 2] }, a: 1 } });
    expect(first.status).toBe('SAVED');
    expect(again).toMatchObject({ status: 'SKIPPED_UNCHANGED', checkpointId: 's@1', removed: [] });
    expect(again.metadata).toEqual(first.metadata);
    expect((await service.list({ sessionId: 's' })).total).toBe(1);
    const forced = await service.save({ sessionId: 's', context, force: true });
    expect(forced).toMatchObject({ status: 'SAVED', checkpointId: 's@2' });
    const other = await place.service().save({ sessionId: 's', context });
    expect(other).toMatchObject({ status: 'SKIPPED_UNCHANGED', checkpointId: 's@2' });
  });

  it('becomes critical without being saved again, where that is said', async () => {
    const place = await Place.make();
    const service = place.service();
    await service.save({ sessionId: 's', context: { n: 1 } });
    const again = await service.save({ sessionId: 's', context: { n: 1 }, critical: true });
    expect(again).toMatchObject({ status: 'SKIPPED_UNCHANGED', metadata: { critical: true } });
    expect((await place.service().metadata({ checkpointId: 's@1' })).critical).toBe(true);
    expect(await place.packs('s')).toHaveLength(1);
  });

  it('has a warning where a name or tags were given that are not noted, and none where they are the same', async () => {
    const service = (await Place.make()).service();
    const save = (metadata?: { name?: string; tags?: string[] }) =>
      service.save({ sessionId: 's', context: { n: 1 }, ...(metadata ? { metadata } : {}) });
    await save({ name: 'one', tags: ['a', 'b'] });
    for (const other of [{ name: 'two' }, { tags: ['a'] }, { tags: ['a', 'c'] }, { tags: [] }]) {
      const { status, warnings, metadata } = await save(other);
      expect([status, warnings.length]).toEqual(['SKIPPED_UNCHANGED', 1]);
      expect(metadata).toMatchObject({ name: 'one', tags: ['a', 'b'] });
    }
    for (const same of [undefined, {}, { name: 'one' }, { name: 'one', tags: ['b', 'a'] }])
      expect((await save(same)).warnings).toEqual([]);
  });

  it('is saved when only an earlier one is the same, and when only the order of a list is another', async () => {
    const service = (await Place.make()).service();
    for (const list of [
      [1, 2],
      [2, 1],
      [1, 2],
    ])
      expect((await service.save({ sessionId: 's', context: { list } })).status).toBe('SAVED');
  });

  it('is skipped also by a service that saw an older one, after another service saved it', async () => {
    const place = await Place.make();
    const [one, two] = [place.service(), place.service()];
    await one.save({ sessionId: 's', context: { n: 1 } });
    await two.save({ sessionId: 's', context: { n: 2 } });
    expect((await one.save({ sessionId: 's', context: { n: 2 } })).status).toBe('SKIPPED_UNCHANGED');
    expect((await one.save({ sessionId: 's', context: { n: 1 } })).checkpointId).toBe('s@3');
  });
});

describe('the number of a checkpoint', () => {
  it('is that of its record: marks and removals take numbers, too, and none is used again', async () => {
    const service = (await Place.make()).service();
    const save = async (n: number) => (await service.save({ sessionId: 's', context: { n } })).checkpointId;
    expect(await save(1)).toBe('s@1');
    await service.markCritical({ sessionId: 's', contextKey: 'n' });
    expect(await save(2)).toBe('s@3');
    await service.delete('s@3');
    expect(await save(3)).toBe('s@5');
  });
});

describe('keys of the running program', () => {
  const isRuntimeKey = (key: string, value: unknown) => key.startsWith('_') || typeof value === 'function';

  it('are left out of a save, whatever their values are, and the metadata name them', async () => {
    const place = await Place.make();
    const context = { _loop: new Map([[1, 2]]), goal: 'ship', stop: () => {}, note: '_kept' };
    const { metadata } = await place.service({ isRuntimeKey }).save({ sessionId: 's', context });
    expect(metadata.leftOutKeys).toEqual(['_loop', 'stop']);
    const loaded = await place.service().load({ sessionId: 's' });
    expect(loaded.context).toEqual({ goal: 'ship', note: '_kept' });
    expect(loaded.metadata.leftOutKeys).toEqual(['_loop', 'stop']);
    expect(Object.keys(context)).toEqual(['_loop', 'goal', 'stop', 'note']); // as it was
  });

  it('make no new checkpoint when only they changed', async () => {
    const service = (await Place.make()).service({ isRuntimeKey });
    await service.save({ sessionId: 's', context: { _run: 1, goal: 'ship' } });
    const again = await service.save({ sessionId: 's', context: { _run: 2, goal: 'ship' } });
    expect(again.status).toBe('SKIPPED_UNCHANGED');
  });

  it('are no way around the check of a context', async () => {
    const service = (await Place.make()).service({ isRuntimeKey });
    for (const context of [new Map(), [1], 'text', null, { goal: new Date() }])
      expect((await errorOf(service.save({ sessionId: 's', context }))).code).toBe('INVALID_ARGUMENT');
  });
});

describe('what is no JSON', () => {
  it('is refused with its place, and nothing is written', async () => {
    const shop = await Place.make();
    for (const value of [Number.NaN, 1n, new Date(0), new Map(), () => 1]) {
      const error = await errorOf(shop.service().save({ sessionId: 's', context: { a: [0, { b: value }] } }));
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', details: { path: '/a/1/b' } });
    }
    expect(await fs.readdir(shop.root)).toEqual([]);
  });

  it('counts as absent where it is a property that is undefined', async () => {
    const service = (await Place.make()).service();
    const context = { a: undefined, b: { c: undefined, d: 1 } };
    await service.save({ sessionId: 's', context });
    expect(Object.keys((await service.load({ sessionId: 's' })).context)).toEqual(['b']);
    expect((await service.save({ sessionId: 's', context: { b: { d: 1 } } })).status).toBe(
      'SKIPPED_UNCHANGED',
    );
  });
});

describe('a session', () => {
  it('may have several agents: each of them pays for its changes only', async () => {
    const place = await Place.make();
    const service = place.service();
    const contexts = { a: bigContext(1, 60), b: bigContext(2, 60) };
    for (const agentId of ['a', 'b'] as const)
      await service.save({ sessionId: 's', agentId, context: contexts[agentId] });
    for (let n = 0; n < 3; n += 1)
      for (const agentId of ['a', 'b'] as const) {
        contexts[agentId].messages[n * 10] = noise(n, 1_000);
        const each = n === 1 ? place.service() : service;
        const { metadata } = await each.save({ sessionId: 's', agentId, context: contexts[agentId] });
        expect(metadata.storedBytes).toBeLessThan(12_000);
      }
    expect((await service.load({ checkpointId: 's@7' })).context).toEqual(contexts.a);
    expect((await service.load({ checkpointId: 's@8' })).context).toEqual(contexts.b);
  });
});

describe('loading', () => {
  it('gives the newest of a session, also one that another service saved', async () => {
    const place = await Place.make();
    const [one, two] = [place.service(), place.service()];
    await one.save({ sessionId: 's', context: { n: 1 } });
    expect((await two.load({ sessionId: 's' })).context).toEqual({ n: 1 });
    await one.save({ sessionId: 's', context: { n: 2 } });
    expect(await two.load({ sessionId: 's' })).toMatchObject({ context: { n: 2 }, metadata: { id: 's@2' } });
    await one.delete('s@2');
    expect((await two.load({ sessionId: 's' })).context).toEqual({ n: 1 });
  });

  it.each(['', 's', 's@', 's@0', 's@01', '@1', 's@1.5', 's@-1', 's@2', `s@${'9'.repeat(30)}`, 's@1 ', 't@1'])(
    'finds nothing by %j',
    async (checkpointId) => {
      const service = (await Place.make()).service();
      await service.save({ sessionId: 's', context: {} });
      for (const work of [
        () => service.load({ checkpointId }),
        () => service.metadata({ checkpointId }),
        () => service.delete(checkpointId),
      ])
        expect((await errorOf(work())).code).toBe('CHECKPOINT_NOT_FOUND');
    },
  );

  it('knows no session that has none, and wants one of both ids', async () => {
    const service = (await Place.make()).service();
    expect((await errorOf(service.load({ sessionId: 'none' }))).code).toBe('SESSION_NOT_FOUND');
    const both = { checkpointId: 's@1', sessionId: 's' } as unknown as { sessionId: string };
    expect((await errorOf(service.load(both))).code).toBe('INVALID_ARGUMENT');
    expect((await errorOf(service.load({} as { sessionId: string }))).code).toBe('INVALID_ARGUMENT');
  });
});

describe('what a checkpoint takes on the disk', () => {
  it('is about what changed: 1 KB in 1 MB, also for a service that is opened anew', async () => {
    const place = await Place.make();
    const context = bigContext(3, 1_000);
    const service = place.service();
    await service.save({ sessionId: 's', context });
    const whole = await place.packBytes('s');
    for (let n = 0; n < 3; n += 1) {
      context.messages.splice(100 * n + 50, 1, noise(n + 1, 1_000));
      await service.save({ sessionId: 's', context });
    }
    expect((await place.packBytes('s')) - whole).toBeLessThan(3 * 8_192);
    context.messages.push('more');
    const { metadata } = await place.service().save({ sessionId: 's', context });
    expect(metadata.storedBytes).toBeLessThan(20_000);
    expect((await service.load({ sessionId: 's' })).context).toEqual(context);
  });

  it('is kept while others use it, after the checkpoint that brought it is removed', async () => {
    const place = await Place.make();
    const service = place.service({ config: { storage: { orphanGraceMinutes: 0 } } });
    const context = bigContext(4, 40);
    await service.save({ sessionId: 's', context });
    const later = { ...context, goal: 'another' };
    await service.save({ sessionId: 's', context: later });
    await service.delete('s@1');
    await place.age('s', 60_000);
    await service.prune();
    expect((await errorOf(service.load({ checkpointId: 's@1' }))).code).toBe('CHECKPOINT_NOT_FOUND');
    for (const each of [service, place.service()])
      expect((await each.load({ checkpointId: 's@2' })).context).toEqual(later);
    await service.save({ sessionId: 's', context: { n: 3 } });
    await service.delete('s@2');
    await service.prune();
    expect(await place.packs('s')).toHaveLength(1);
  });

  it('is written before the record that names it: without it there is no record', async () => {
    const place = await Place.make();
    await place.service().save({ sessionId: 's', context: { n: 1 } });
    const journal = await place.journal('s');
    const noRoom = async () => {
      throw new RekindleError('STORAGE_FULL', 'There is no room.');
    };
    const service = place.service({ backend: withBlobs(place.storage(), { put: noRoom }) });
    const error = await errorOf(service.save({ sessionId: 's', context: { n: 2 } }));
    expect(error.code).toBe('STORAGE_FULL');
    expect(await place.journal('s')).toBe(journal);
    expect((await place.service().save({ sessionId: 's', context: { n: 2 } })).checkpointId).toBe('s@2');
  });
});

function edit(context: JsonObject & { messages: JsonValue[] }, random: SeededRandom): void {
  const { messages } = context;
  const text = noise(random.bits(), random.below(3_000));
  const at = random.below(messages.length + 1);
  const edits = [
    () => messages.push(text),
    () => messages.splice(at, 1),
    () => messages.splice(at, 0, { text, at }),
    () => messages.splice(at, random.below(20), ...messages.slice(0, random.below(10))),
    () => messages.unshift(text),
    () => messages.reverse(),
    () => void (context[`key ${random.below(5)}`] = text),
    () => void delete context[`key ${random.below(5)}`],
  ];
  for (let times = 1 + random.below(3); times > 0; times -= 1) random.pick(edits)();
}
