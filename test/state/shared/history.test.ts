import { describe, expect, it } from 'vitest';
import type { SharedLimits } from '../../../src/state/shared/shared-limits.js';
import { errorOf } from '../durable/state-kit.js';
import { DENS, Den } from './shared-kit.js';

/** Two of them make a snapshot due. */
const HALF = 33_000;
const limits = { history: 2 };

/** Sets two keys in turn, so large that snapshots are written and old history is removed. */
async function fill(den: Den, times: number, bounds: Partial<SharedLimits> = limits): Promise<void> {
  const state = den.state({ limits: bounds });
  for (let n = 1; n <= times; n += 1) await state.set(`k${n % 2}`, `${'x'.repeat(HALF)}${n}`);
  await state.close();
}

function endOf(value: unknown): string {
  return String(value).replaceAll('x', '');
}

describe.each(DENS)('the history over $name', ({ make }) => {
  it('of all keys has their changes, newest first, by key, by session and in pages', async () => {
    const den = await make();
    const state = den.state();
    await state.set('a', 1, { by: 'one' });
    await state.set('b', 2, { by: 'two' });
    await state.set('a', 3, { by: 'two' });
    await state.delete('b', { by: 'one' });
    const numbers = async (query: Parameters<typeof state.changes>[0]) => {
      const { changes, complete, hasMore } = await den.state().changes(query);
      expect(hasMore).toBe(!complete); // nothing was removed here
      return [...changes.map(({ globalVersion }) => globalVersion), complete];
    };
    expect(await numbers({})).toEqual([4, 3, 2, 1, true]);
    expect(await numbers({ by: 'two' })).toEqual([3, 2, true]);
    expect(await numbers({ by: 'one', key: 'b' })).toEqual([4, true]);
    expect(await numbers({ limit: 3 })).toEqual([4, 3, 2, false]);
    expect(await numbers({ limit: 3, before: 2 })).toEqual([1, true]);
    expect(await numbers({ by: 'nobody' })).toEqual([true]);
    expect((await errorOf(state.changes({ before: -1 }))).code).toBe('INVALID_ARGUMENT');
    expect((await errorOf(state.changes({ key: '' }))).code).toBe('INVALID_ARGUMENT');
  });

  it('of a key has its changes, newest first, with the value after each', async () => {
    const den = await make();
    const state = den.state();
    await state.set('a', 1, { by: 'one' });
    await state.set('b', 1);
    await state.increment('a', 2, { by: 'two' });
    await state.delete('a');
    await state.append('a', ['x']);
    await state.close();
    const { changes, complete } = await den.state().history('a');
    expect(complete).toBe(true);
    expect(
      changes.map(({ version, globalVersion, op, value, by }) => [version, globalVersion, op, value, by]),
    ).toEqual([
      [4, 5, 'append', ['x'], 'unknown'],
      [3, 4, 'delete', undefined, 'unknown'],
      [2, 3, 'increment', 3, 'two'],
      [1, 1, 'set', 1, 'one'],
    ]);
    expect(await den.state().history('absent')).toEqual({ changes: [], complete: true, hasMore: false });
  });

  it('with a limit has the newest, and says that it is not complete', async () => {
    const state = (await make()).state();
    for (let n = 1; n <= 3; n += 1) await state.increment('a');
    expect((await state.history('a', 3)).complete).toBe(true);
    const { changes, complete } = await state.history('a', 2);
    expect(changes.map(({ version }) => version)).toEqual([3, 2]);
    expect(complete).toBe(false);
  });

  it('gives the state back as it was after each change', async () => {
    const state = (await make()).state();
    await state.set('a', 1);
    await state.increment('a');
    await state.set('b', 'x');
    await state.delete('a');
    const shown = async (version: number) =>
      (await state.at(version)).keys.map(({ key, value, version: own }) => [key, value, own]);
    expect(await shown(0)).toEqual([]);
    expect(await shown(1)).toEqual([['a', 1, 1]]);
    expect(await shown(2)).toEqual([['a', 2, 2]]);
    expect(await shown(3)).toEqual([
      ['a', 2, 2],
      ['b', 'x', 1],
    ]);
    expect(await state.at(4)).toEqual(await state.getAll());
  });

  it('never shows half of a batch: a version inside is the state before it', async () => {
    const state = (await make()).state();
    await state.set('a', 0);
    await state.patch({ a: 1, b: 1, c: 1 });
    for (const version of [1, 2, 3])
      expect(await state.at(version)).toMatchObject({ globalVersion: 1, keys: [{ key: 'a', value: 0 }] });
    expect((await state.at(4)).keys).toHaveLength(3);
  });

  it('never shows half of a batch, also when more came after it', async () => {
    const state = (await make()).state();
    await state.set('a', 0);
    await Promise.all([state.increment('n'), state.patch({ a: 1, b: 1, c: 1 }), state.increment('n')]);
    await state.set('d', 1);
    for (const version of [2, 3, 4])
      expect((await state.at(version)).keys.map(({ key, value }) => [key, value])).toEqual([
        ['a', 0],
        ['n', 1],
      ]);
  });

  it.each([-1, 3, 1.5, Number.NaN])('has no version %d', async (version) => {
    const state = (await make()).state();
    await state.patch({ a: 1, b: 1 });
    expect(await errorOf(state.at(version))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { field: 'globalVersion' },
    });
  });

  it('gives the changes after a version, oldest first, up to a limit', async () => {
    const state = (await make()).state();
    for (let n = 1; n <= 5; n += 1) await state.increment('a');
    const since = async (version: number, limit?: number) =>
      (await state.changesSince(version, limit)).map(({ globalVersion }) => globalVersion);
    expect(await since(0)).toEqual([1, 2, 3, 4, 5]);
    expect(await since(3)).toEqual([4, 5]);
    expect(await since(1, 2)).toEqual([2, 3]);
    expect(await since(5)).toEqual([]);
    expect(await since(0, 0)).toEqual([]);
  });
});

describe.each([
  { name: 'files', make: () => Den.files(10_000) },
  { name: 'memory', make: async () => Den.memory() },
])('a bounded history over $name', ({ make }) => {
  it('lets old changes go, and says how far back it goes', async () => {
    const den = await make();
    await fill(den, 12);
    const state = den.state({ limits });
    const oldest = await state.oldestVersion();
    expect(oldest).toBeGreaterThan(4);
    expect(oldest).toBeLessThanOrEqual(12 - limits.history);
    const gone = { code: 'HISTORY_GONE', details: { wanted: oldest - 1, oldest } };
    expect(await errorOf(state.at(oldest - 1))).toMatchObject(gone);
    expect(await errorOf(state.changesSince(oldest - 1))).toMatchObject(gone);
    expect(await errorOf(state.changesSince(0))).toMatchObject({ code: 'HISTORY_GONE' });
  });

  it('still has every state and change that it says it has', async () => {
    const den = await make();
    await fill(den, 12);
    const state = den.state({ limits });
    const oldest = await state.oldestVersion();
    for (let version = oldest; version <= 12; version += 1) {
      const { globalVersion, keys } = await state.at(version);
      expect(globalVersion).toBe(version);
      expect(keys.map(({ value }) => Number(endOf(value))).sort((a, b) => a - b)).toEqual([
        version - 1,
        version,
      ]);
    }
    const changes = await state.changesSince(oldest);
    expect(changes.map(({ value }) => Number(endOf(value)))).toEqual(
      Array.from({ length: 12 - oldest }, (_, index) => oldest + index + 1),
    );
    const { changes: own, complete } = await state.history('k0');
    expect(complete).toBe(false);
    expect(own.map(({ version }) => version)).toEqual([6, 5, 4, 3, 2, 1].slice(0, own.length));
    expect(own.at(-1)!.globalVersion).toBeGreaterThan(oldest);
  });

  it('keeps the versions and when a key was created', async () => {
    const den = await make();
    const first = den.state({ limits });
    await first.set('still', 1, { by: 'first' });
    const before = await first.get('still');
    await first.close();
    await fill(den, 12);
    const state = den.state({ limits });
    expect(await state.get('still')).toEqual(before);
    expect(await state.increment('still')).toMatchObject({
      version: 2,
      globalVersion: 14,
      createdAt: before?.createdAt,
    });
  });

  it('never uses a version again of a key whose tombstone was let go', async () => {
    const den = await make();
    const bounds = { history: 2, keys: 3 };
    const state = den.state({ limits: bounds });
    const last = new Map<string, number>();
    for (const [index, key] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      for (let n = 0; n <= index; n += 1) await state.increment(key);
      await state.delete(key);
      last.set(key, index + 2);
    }
    await state.close();
    await fill(den, 12, bounds);
    const again = den.state({ limits: bounds });
    // Only the tombstones of c, d and e were kept; what was let go begins above the highest of them.
    expect(await again.set('new', 1)).toMatchObject({ version: 4 });
    await again.delete('new');
    for (const [key, version] of last) {
      expect((await again.set(key, 1)).version).toBeGreaterThan(version);
      await again.delete(key);
    }
  });
});

describe('a bounded history in files', () => {
  it('takes no more room than the state and what is kept of it', async () => {
    const den = await Den.files(10_000);
    await fill(den, 12);
    const few = (await den.segments()).length;
    await fill(den, 12);
    expect((await den.segments()).length).toBeLessThanOrEqual(few + 1);
  });

  it('goes from under an instance that has been idle: it reads the state anew, and says so', async () => {
    const den = await Den.files(10_000);
    const idle = den.state();
    const reloaded: number[] = [];
    idle.events.on('reloaded', ({ globalVersion }) => reloaded.push(globalVersion));
    await den.state().set('first', 1);
    expect(await idle.get('first')).toMatchObject({ value: 1 });
    await fill(den, 12);
    expect((await idle.getAll()).globalVersion).toBe(13);
    expect(reloaded).toEqual([13]);
    expect(await idle.oldestVersion()).toBe(await den.state().oldestVersion());
    expect(await idle.set('first', 2)).toMatchObject({ version: 2, globalVersion: 14 });
  });
});
