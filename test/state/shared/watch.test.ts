import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { StateChange } from '../../../src/state/shared/shared-table.js';
import { until } from '../durable/state-kit.js';
import { DENS, Den } from './shared-kit.js';

describe.each(DENS)('a watch over $name', ({ make }) => {
  it('tells changes of keys with a prefix, in order, by whoever made them', async () => {
    const den = await make();
    const [watching, other] = [den.state(), den.state()];
    await other.set('task/0', 'before');
    const seen: StateChange[] = [];
    await watching.watch('task/', (change) => seen.push(change));
    await other.set('task/1', 1, { by: 'other' });
    await other.set('elsewhere', 1);
    await other.patch({ 'task/1': null, 'task/2': 2 });
    await watching.increment('task/2');
    await until(() => seen.length >= 4);
    expect(seen.map(({ globalVersion, key, op, value, by }) => [globalVersion, key, op, value, by])).toEqual([
      [2, 'task/1', 'set', 1, 'other'],
      [4, 'task/1', 'delete', undefined, 'unknown'],
      [5, 'task/2', 'set', 2, 'unknown'],
      [6, 'task/2', 'increment', 3, 'unknown'],
    ]);
    expect(seen.map(({ lastOfCommit }) => lastOfCommit)).toEqual([2, 5, 5, 6]);
  });

  it('tells a change by another instance without being asked', async () => {
    const den = await make();
    const seen: number[] = [];
    await den.state().watch('', ({ globalVersion }) => seen.push(globalVersion));
    await den.state().increment('n');
    await until(() => seen.length > 0);
    expect(seen).toEqual([1]);
  });

  it('ends when it is told to, and when the state is closed', async () => {
    const den = await make();
    const state = den.state();
    const seen: string[] = [];
    const end = await state.watch('', ({ key }) => seen.push(`first ${key}`));
    await state.watch('', ({ key }) => seen.push(`second ${key}`));
    await state.set('a', 1);
    await end();
    await state.set('b', 1);
    await state.close();
    await den.state().set('c', 1);
    await sleep(30);
    expect(seen).toEqual(['first a', 'second a', 'second b']);
  });
});

describe('a listener', () => {
  it('may change the state, and is told of its own change, too', async () => {
    const den = await Den.files();
    const state = den.state();
    const seen: string[] = [];
    const begun: Promise<unknown>[] = [];
    await state.watch('', ({ key, value }) => {
      seen.push(`${key} ${value}`);
      if (key === 'n' && Number(value) < 3) begun.push(state.increment('n'), state.get('n'));
    });
    await state.increment('n');
    await until(() => seen.length >= 3);
    await Promise.all(begun);
    expect(seen).toEqual(['n 1', 'n 2', 'n 3']);
    expect(await den.state().get('n')).toMatchObject({ value: 3 });
  });

  it('of a change by another may change the state at once', async () => {
    const den = await Den.files();
    const [one, other] = [den.state(), den.state()];
    const answers: Promise<unknown>[] = [];
    await one.watch('question', ({ value }) => void answers.push(one.set('answer', value)));
    await other.set('question', 42);
    await until(() => answers.length > 0);
    await Promise.all(answers);
    expect(await other.get('answer')).toMatchObject({ value: 42 });
  });

  it('that throws, or changes what it is told, harms nobody but itself', async () => {
    const state = Den.memory().state();
    const seen: unknown[] = [];
    await state.watch('', () => {
      throw new TypeError('mine');
    });
    await state.watch('', ({ value }) => seen.push(JSON.stringify(value)));
    await state.watch('', ({ value }) => void ((value as { n: number }).n = 99));
    expect((await state.set('a', { n: 1 })).value).toEqual({ n: 1 });
    expect(seen).toEqual(['{"n":1}']);
    expect((await state.get('a'))?.value).toEqual({ n: 1 });
    expect((await state.changesSince(0))[0]?.value).toEqual({ n: 1 });
  });

  it('does not see what another listener made of the change', async () => {
    const state = Den.memory().state();
    const seen: unknown[] = [];
    await state.watch('', ({ value }) => void ((value as { n: number }).n = 99));
    await state.watch('', ({ value }) => seen.push(JSON.stringify(value)));
    await state.set('a', { n: 1 });
    expect(seen).toEqual(['{"n":1}']);
  });

  it('is told of a change only when it is durable: not of one that is refused', async () => {
    const state = Den.memory().state();
    const seen: number[] = [];
    await state.watch('', ({ globalVersion }) => seen.push(globalVersion));
    await Promise.allSettled([
      state.set('a', 1, { ifVersion: 7 }),
      state.increment('b', 0.5),
      state.set('c', 1),
    ]);
    expect(seen).toEqual([1]);
  });
});
