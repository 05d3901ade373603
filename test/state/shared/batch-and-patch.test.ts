import { describe, expect, it } from 'vitest';
import type { StateOperation } from '../../../src/state/shared/key-decision.js';
import { errorOf } from '../durable/state-kit.js';
import { Den, valuesOf } from './shared-kit.js';

const set = (key: string, value: unknown, ifVersion?: number): StateOperation => ({
  op: 'set',
  key,
  value,
  ...(ifVersion === undefined ? {} : { ifVersion }),
});

describe('a batch', () => {
  it('applies all operations in order, each seeing those before it', async () => {
    const den = await Den.files();
    const state = den.state();
    const result = await state.batch(
      [
        set('a', 1),
        { op: 'increment', key: 'a', delta: 2 },
        { op: 'append', key: 'b', items: ['x'] },
        { op: 'merge', key: 'c', patch: { d: 1 } },
        { op: 'delete', key: 'a', ifVersion: 2 },
      ],
      { by: 'child' },
    );
    expect(result).toEqual({
      applied: true,
      globalVersion: 5,
      results: [
        { key: 'a', status: 'applied', version: 0, value: undefined },
        { key: 'a', status: 'applied', version: 0, value: undefined },
        { key: 'b', status: 'applied', version: 1, value: ['x'] },
        { key: 'c', status: 'applied', version: 1, value: { d: 1 } },
        { key: 'a', status: 'applied', version: 0, value: undefined },
      ],
    });
    await state.close();
    expect(await valuesOf(den.state())).toEqual({ b: ['x'], c: { d: 1 } });
  });

  it('has consecutive numbers, with the last of them in each change, also beside others', async () => {
    const den = await Den.files();
    const states = [den.state(), den.state()];
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        states[index % 2]!.batch([
          { op: 'increment', key: 'left' },
          { op: 'increment', key: 'right' },
        ]),
      ),
    );
    const changes = await states[0]!.changesSince(0);
    expect(changes.map(({ globalVersion }) => globalVersion)).toEqual(
      Array.from({ length: 24 }, (_, index) => index + 1),
    );
    for (const [index, change] of changes.entries())
      expect([change.key, change.lastOfCommit]).toEqual(
        index % 2 === 0 ? ['left', index + 2] : ['right', index + 1],
      );
  });

  it('with a conflict changes nothing, and tells what became of each operation', async () => {
    const state = Den.memory().state();
    await state.set('a', 1);
    await state.set('b', 2);
    expect(await state.batch([set('a', 9), set('b', 9, 5), set('c', 9)])).toEqual({
      applied: false,
      globalVersion: 2,
      results: [
        { key: 'a', status: 'not_applied', version: 1, value: 1 },
        { key: 'b', status: 'conflict', version: 1, value: 2 },
        { key: 'c', status: 'not_applied', version: 0, value: undefined },
      ],
    });
    expect(await valuesOf(state)).toEqual({ a: 1, b: 2 });
    expect(await state.globalVersion()).toBe(2);
  });

  it('sees its own change in a condition on the same key', async () => {
    const state = Den.memory().state();
    expect(await state.batch([set('a', 1, 0), set('a', 2, 1)])).toMatchObject({ applied: true });
    expect(await state.batch([set('a', 3, 2), set('a', 4, 2)])).toMatchObject({
      applied: false,
      results: [{ status: 'not_applied' }, { status: 'conflict', version: 2, value: 2 }],
    });
  });

  it('that leaves nothing to change writes nothing', async () => {
    const state = Den.memory().state();
    expect(await state.batch([])).toEqual({ applied: true, results: [], globalVersion: 0 });
    expect(await state.batch([{ op: 'delete', key: 'a' }])).toMatchObject({
      applied: true,
      globalVersion: 0,
    });
  });

  it('with an operation that is refused changes nothing, and the place of the operation is told', async () => {
    const state = Den.memory().state();
    const error = await errorOf(state.batch([set('a', 1), set('b', Number.NaN), set('c', 1)]));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', details: { index: 1, field: 'value' } });
    const odd = { op: 'swap', key: 'a' } as unknown as StateOperation;
    expect((await errorOf(state.batch([odd]))).details).toMatchObject({ index: 0, field: 'op' });
    expect(await state.globalVersion()).toBe(0);
  });

  it('with an operation that does not fit changes nothing', async () => {
    const state = Den.memory().state();
    await state.set('n', 1);
    const error = await errorOf(state.batch([set('a', 1), { op: 'append', key: 'n', items: [1] }]));
    expect(error).toMatchObject({ code: 'TYPE_MISMATCH', details: { key: 'n' } });
    expect(await valuesOf(state)).toEqual({ n: 1 });
    expect(await state.set('a', 2)).toMatchObject({ version: 1, globalVersion: 2 });
  });

  it('tells the place of an operation that does not fit, or goes beyond a limit', async () => {
    const state = Den.memory().state({ limits: { keys: 1 } });
    await state.set('n', 1);
    const mismatch = await errorOf(state.batch([set('n', 2), { op: 'append', key: 'n', items: [1] }]));
    expect(mismatch.details).toMatchObject({ index: 1 });
    expect((await errorOf(state.batch([set('n', 2), set('b', 1)]))).details).toMatchObject({ index: 1 });
  });

  it('tells a conflict rather than what does not fit because of it', async () => {
    const state = Den.memory().state();
    await state.set('n', 1);
    const result = await state.batch([set('n', [], 5), { op: 'append', key: 'n', items: [1] }]);
    expect(result).toMatchObject({ applied: false, results: [{ status: 'conflict' }, {}] });
  });

  it.each([[null], ['x'], [[null]], [{}]])('that is %j is refused', async (given) => {
    const error = await errorOf(
      Den.memory()
        .state()
        .batch(given as never),
    );
    expect(error.code).toBe('INVALID_ARGUMENT');
  });

  it('is not shown by halves to another instance that reads all the time', async () => {
    const den = await Den.files();
    const [writer, reader] = [den.state(), den.state()];
    let done = false;
    const halves: unknown[] = [];
    const reading = (async () => {
      while (!done) {
        const { a = 0, b = 0 } = await valuesOf(reader);
        if (a !== b) halves.push([a, b]);
      }
    })();
    for (let n = 1; n <= 20; n += 1) await writer.batch([set('a', n), set('b', n)]);
    done = true;
    await reading;
    expect(halves).toEqual([]);
    expect(await valuesOf(reader)).toEqual({ a: 20, b: 20 });
  });
});

describe('a patch', () => {
  it('deletes, merges and sets keys, all or nothing', async () => {
    const den = await Den.files();
    const state = den.state();
    await state.patch({ gone: 1, object: { a: 1, b: 2 }, list: [1] });
    const result = await state.patch({
      gone: null,
      object: { b: null, c: 3 },
      list: { d: { e: null } },
      f: 4,
    });
    expect(result).toMatchObject({ applied: true, globalVersion: 7 });
    await state.close();
    const again = den.state();
    expect(await valuesOf(again)).toEqual({ object: { a: 1, c: 3 }, list: { d: {} }, f: 4 });
    const ops = (await again.changesSince(3)).map(({ key, op, lastOfCommit }) => [key, op, lastOfCommit]);
    expect(ops).toEqual([
      ['gone', 'delete', 7],
      ['object', 'merge', 7],
      ['list', 'set', 7],
      ['f', 'set', 7],
    ]);
  });

  it('is refused with DOCUMENT_CONFLICT when anything changed since', async () => {
    const state = Den.memory().state();
    await state.set('a', 1);
    await state.patch({ a: 2 }, { ifGlobalVersion: 1 });
    expect(await errorOf(state.patch({ b: 1 }, { ifGlobalVersion: 1 }))).toMatchObject({
      code: 'DOCUMENT_CONFLICT',
      details: { currentVersion: 2, ifVersion: 1 },
    });
    expect(await valuesOf(state)).toEqual({ a: 2 });
  });

  it('takes __proto__ and constructor for keys like others', async () => {
    const state = Den.memory().state();
    await state.patch(JSON.parse('{"__proto__":{"x":1},"constructor":2}') as object);
    expect((await state.get('__proto__'))?.value).toEqual({ x: 1 });
    expect((await state.get('constructor'))?.value).toBe(2);
    await state.patch(JSON.parse('{"__proto__":null}') as object);
    expect(await state.get('__proto__')).toBeNull();
  });

  it.each([[[1]], [null], ['text'], [{ '': 1 }], [{ a: Number.NaN }], [{ a: undefined }]])(
    'that is %j is refused',
    async (patch) => {
      const state = Den.memory().state();
      expect((await errorOf(state.patch(patch as object))).code).toBe('INVALID_ARGUMENT');
      expect(await state.globalVersion()).toBe(0);
    },
  );
});
