import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/core/clock.js';
import { errorOf } from '../durable/state-kit.js';
import { DENS, Den, nested, valuesOf } from './shared-kit.js';

describe.each(DENS)('a key of a shared state over $name', ({ make }) => {
  it('has no value before it is set', async () => {
    const state = (await make()).state();
    expect(await state.get('a')).toBeNull();
    expect(await state.getAll()).toEqual({ globalVersion: 0, keys: [] });
    expect(await state.globalVersion()).toBe(0);
  });

  it('tells its value, versions, times, and who changed it last', async () => {
    const den = await make();
    const clock = new ManualClock(1_700_000_000_000);
    const state = den.state({ clock });
    await state.set('other', 1);
    const createdAt = new Date(clock.nowMs()).toISOString();
    await state.set('a', { n: 1 }, { by: 'child_a' });
    clock.advance(5);
    const expected = {
      key: 'a',
      value: { n: 2 },
      version: 2,
      createdAt,
      updatedAt: new Date(clock.nowMs()).toISOString(),
      updatedBy: 'child_b',
      globalVersion: 3,
    };
    expect(await state.set('a', { n: 2 }, { by: 'child_b' })).toEqual(expected);
    await state.close();
    expect(await den.state().get('a')).toEqual(expected);
  });

  it.each([null, false, 0, -1.5, '', 'ä\u0000\u2028😀', [], {}, [[], [null]], { '': { '': 1 } }])(
    'holds the value %j for the next process',
    async (value) => {
      const den = await make();
      const state = den.state();
      await state.set('a', value);
      await state.close();
      expect((await den.state().get('a'))?.value).toEqual(value);
    },
  );

  it.each(['__proto__', 'constructor', 'toString', 'a/b', 'ä'.repeat(256), '\u0000', '😀'])(
    'may be called %j',
    async (key) => {
      const den = await make();
      const state = den.state();
      expect(await state.get(key)).toBeNull();
      await state.set(key, 1);
      await state.increment(key);
      await state.close();
      const again = den.state();
      expect(await again.getAll()).toMatchObject({ globalVersion: 2, keys: [{ key, value: 2, version: 2 }] });
      expect((await again.history(key)).changes).toHaveLength(2);
      expect(await again.delete(key)).toBe(true);
      expect(await again.get(key)).toBeNull();
    },
  );

  it('goes on with its versions after it was deleted', async () => {
    const den = await make();
    const state = den.state();
    await state.set('a', 1);
    expect(await state.delete('a')).toBe(true);
    expect(await state.get('a')).toBeNull();
    await state.close();
    expect(await den.state().set('a', 2)).toMatchObject({ version: 3, globalVersion: 3 });
  });

  it('that has no value is not deleted again, and nothing is written', async () => {
    const state = (await make()).state();
    expect(await state.delete('a')).toBe(false);
    await state.set('a', 1);
    await state.delete('a');
    expect(await state.delete('a')).toBe(false);
    expect(await state.globalVersion()).toBe(2);
  });

  it('is seen by another instance at once, whoever changes it', async () => {
    const den = await make();
    const [one, other] = [den.state(), den.state()];
    expect(await one.increment('n')).toMatchObject({ value: 1 });
    expect(await other.get('n')).toMatchObject({ value: 1, version: 1 });
    expect(await other.increment('n')).toMatchObject({ value: 2, version: 2 });
    expect(await one.get('n')).toMatchObject({ value: 2, version: 2 });
    expect((await one.history('n')).changes.map(({ version }) => version)).toEqual([2, 1]);
  });
});

describe('a condition on the version', () => {
  it('lets a change through at that version, and refuses it at another with what is there now', async () => {
    const state = Den.memory().state();
    await state.set('a', 'one');
    expect(await state.set('a', 'two', { ifVersion: 1 })).toMatchObject({ version: 2 });
    const error = await errorOf(state.set('a', 'three', { ifVersion: 1 }));
    expect(error.code).toBe('DOCUMENT_CONFLICT');
    expect(error.details).toEqual({ key: 'a', ifVersion: 1, currentVersion: 2, currentValue: 'two' });
    expect(await state.getAll()).toMatchObject({ globalVersion: 2, keys: [{ value: 'two', version: 2 }] });
  });

  it('of 0 asks for a key without a value, also a deleted one', async () => {
    const state = Den.memory().state();
    await state.set('a', 1, { ifVersion: 0 });
    expect((await errorOf(state.set('a', 2, { ifVersion: 0 }))).code).toBe('DOCUMENT_CONFLICT');
    await state.delete('a', { ifVersion: 1 });
    expect((await errorOf(state.set('a', 3, { ifVersion: 2 }))).details).toEqual({
      key: 'a',
      ifVersion: 2,
      currentVersion: 0,
    });
    expect(await state.set('a', 3, { ifVersion: 0 })).toMatchObject({ version: 3 });
  });

  it('of * asks for a key with a value', async () => {
    const state = Den.memory().state();
    const calls = [
      state.set('a', 1, { ifVersion: '*' }),
      state.increment('a', 1, { ifVersion: '*' }),
      state.delete('a', { ifVersion: '*' }),
    ];
    for (const { code } of await Promise.all(calls.map(errorOf))) expect(code).toBe('DOCUMENT_CONFLICT');
    await state.set('a', 1);
    expect(await state.increment('a', 1, { ifVersion: '*' })).toMatchObject({ value: 2 });
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('of %d is refused', async (ifVersion) => {
    const state = Den.memory().state();
    const error = await errorOf(state.set('a', 1, { ifVersion }));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', details: { field: 'ifVersion' } });
    expect(await state.globalVersion()).toBe(0);
  });

  it('lets one of two instances win', async () => {
    const den = await Den.files();
    const states = [den.state(), den.state()];
    const results = await Promise.allSettled(states.map((state) => state.set('a', 1, { ifVersion: 0 })));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await states[0]!.globalVersion()).toBe(1);
  });
});

describe('an increment', () => {
  it('begins at 0 and adds what is said, also less than nothing', async () => {
    const state = Den.memory().state();
    expect(await state.increment('n')).toMatchObject({ value: 1 });
    expect(await state.increment('n', -5)).toMatchObject({ value: -4 });
    const zero = await state.increment('n', 4);
    expect(Object.is(zero.value, 0)).toBe(true);
  });

  it('loses none of those that run at once in two instances', async () => {
    const den = await Den.files();
    const states = [den.state(), den.state()];
    const done = await Promise.all(
      states.flatMap((state) => Array.from({ length: 40 }, () => state.increment('n'))),
    );
    const seen = done.map(({ value }) => Number(value)).sort((a, b) => a - b);
    expect(seen).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
    expect(await states[0]!.globalVersion()).toBe(80);
  });

  it('goes up to the largest whole number that JSON holds exactly, and no further', async () => {
    const state = Den.memory().state();
    await state.set('n', Number.MAX_SAFE_INTEGER - 1);
    expect(await state.increment('n')).toMatchObject({ value: Number.MAX_SAFE_INTEGER });
    expect((await errorOf(state.increment('n'))).code).toBe('TYPE_MISMATCH');
    await state.set('low', Number.MIN_SAFE_INTEGER);
    expect((await errorOf(state.increment('low', -1))).code).toBe('TYPE_MISMATCH');
    await state.set('beyond', 2 ** 53);
    expect((await errorOf(state.increment('beyond', -1))).code).toBe('TYPE_MISMATCH');
    expect(await state.get('n')).toMatchObject({ value: Number.MAX_SAFE_INTEGER, version: 2 });
  });

  it.each([0.5, Number.NaN, 2 ** 53, '1', 1n])('by %s is refused', async (delta) => {
    const state = Den.memory().state();
    const error = await errorOf(state.increment('n', delta as never));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', details: { field: 'delta' } });
  });

  it.each([0.5, '1', null, true, [], {}])('of %j is refused with what is there', async (value) => {
    const state = Den.memory().state();
    await state.set('n', value);
    expect((await errorOf(state.increment('n'))).code).toBe('TYPE_MISMATCH');
    expect(await state.get('n')).toMatchObject({ value, version: 1 });
  });
});

describe('an append and a merge', () => {
  it('begin with an empty list and an empty object', async () => {
    const state = Den.memory().state();
    expect(await state.append('list', [1, [2]])).toMatchObject({ value: [1, [2]] });
    expect(await state.append('list', [])).toMatchObject({ value: [1, [2]], version: 2 });
    expect(await state.merge('object', { a: { b: 1, c: null } })).toMatchObject({ value: { a: { b: 1 } } });
    expect(await state.merge('object', { a: { b: null, d: 2 } })).toMatchObject({ value: { a: { d: 2 } } });
  });

  it('refuse a value of another type, and what is no list or object', async () => {
    const state = Den.memory().state();
    await state.set('n', 1);
    await state.set('list', []);
    expect(await errorOf(state.append('n', [1]))).toMatchObject({
      code: 'TYPE_MISMATCH',
      details: { key: 'n', op: 'append', type: 'number' },
    });
    expect(await errorOf(state.merge('list', { a: 1 }))).toMatchObject({
      code: 'TYPE_MISMATCH',
      details: { type: 'array' },
    });
    expect((await errorOf(state.append('x', 'no list' as never))).code).toBe('INVALID_ARGUMENT');
    expect((await errorOf(state.merge('x', [1]))).code).toBe('INVALID_ARGUMENT');
    expect(await state.globalVersion()).toBe(2);
  });

  it('keep a key named __proto__ as a plain key', async () => {
    const den = await Den.files();
    const state = den.state();
    await state.merge('a', JSON.parse('{"__proto__":{"x":1}}') as object);
    await state.close();
    const again = den.state();
    await again.merge('a', JSON.parse('{"__proto__":{"y":2}}') as object);
    expect(JSON.stringify((await again.get('a'))?.value)).toBe('{"__proto__":{"x":1,"y":2}}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});

describe('what is no key or no JSON', () => {
  it.each(['', '.', '..', 'a\ud800', '\udc00', 'k'.repeat(513), 'ä'.repeat(257), 5, null, undefined, {}])(
    'is refused as a key: %j',
    async (key) => {
      const state = Den.memory().state();
      const calls = [
        state.get(key as string),
        state.set(key as string, 1),
        state.delete(key as string),
        state.history(key as string),
        state.batch([{ op: 'set', key: key as string, value: 1 }]),
      ];
      for (const { code } of await Promise.all(calls.map(errorOf))) expect(code).toBe('INVALID_ARGUMENT');
      expect(await state.globalVersion()).toBe(0);
    },
  );

  const cycle: unknown[] = [];
  cycle.push(cycle);
  it.each([
    undefined,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    () => 1,
    Symbol('s'),
    cycle,
    new Date(0),
    new Map([['a', 1]]),
    { a: undefined },
    [undefined],
    { a: 'half \ud800' },
    { 'half \ud800': 1 },
    new Uint8Array(2),
  ])('is refused as a value, and nothing changes (%#)', async (value) => {
    const state = Den.memory().state();
    expect((await errorOf(state.set('a', value))).code).toBe('INVALID_ARGUMENT');
    expect((await errorOf(state.append('a', [value]))).code).toBe('INVALID_ARGUMENT');
    expect(await state.globalVersion()).toBe(0);
  });

  it('is not the negative zero: it becomes 0', async () => {
    const den = await Den.files();
    const state = den.state();
    expect(Object.is((await state.set('a', -0)).value, 0)).toBe(true);
    expect(Object.is((await state.increment('a', -0)).value, 0)).toBe(true);
    await state.close();
    expect(Object.is((await den.state().get('a'))?.value, 0)).toBe(true);
  });

  it.each(['', 5, 'x'.repeat(513), 'a\ud800'])('is refused as the one who acts: %j', async (by) => {
    const state = Den.memory().state();
    expect((await errorOf(state.set('a', 1, { by: by as string }))).code).toBe('INVALID_ARGUMENT');
    expect(await state.set('a', 2)).toMatchObject({ value: 2, version: 1, updatedBy: 'unknown' });
  });
});

describe('values', () => {
  it('are copies: what the caller does with his own, or with what he was given, changes nothing', async () => {
    const state = Den.memory().state();
    const mine = { list: [1] };
    const setting = state.set('a', mine);
    mine.list.push(2);
    for (const given of [await setting, await state.get('a'), (await state.getAll()).keys[0]])
      (given!.value as typeof mine).list.push(3);
    for (const given of [...(await state.history('a')).changes, ...(await state.changesSince(0))])
      (given.value as typeof mine).list.push(4);
    const { results } = await state.batch([{ op: 'set', key: 'b', value: mine }]);
    (results[0]!.value as typeof mine).list.push(5);
    expect(await valuesOf(state)).toEqual({ a: { list: [1] }, b: { list: [1, 2] } });
  });

  it('are copies in the details of a conflict, too', async () => {
    const state = Den.memory().state();
    await state.set('a', { n: 1 });
    const { details } = await errorOf(state.set('a', 2, { ifVersion: 9 }));
    (details['currentValue'] as { n: number }).n = 99;
    expect((await state.get('a'))?.value).toEqual({ n: 1 });
  });

  it('are nested 64 deep, and no deeper', async () => {
    const den = await Den.files();
    const state = den.state();
    await state.set('a', nested(64));
    expect(await errorOf(state.set('a', nested(65)))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'depth', allowed: 64, actual: 65 },
    });
    await state.close();
    expect((await den.state().get('a'))?.value).toEqual(nested(64));
  });
});

describe('a state that was closed', () => {
  it('lets changes under way finish, and refuses new ones', async () => {
    const den = await Den.files();
    const state = den.state();
    const changing = Promise.all([state.increment('n'), state.increment('n')]);
    await state.close();
    expect(await changing).toHaveLength(2);
    expect((await errorOf(state.increment('n'))).code).toBe('JOURNAL_CLOSED');
    expect(await den.state().get('n')).toMatchObject({ value: 2 });
  });
});
