import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/core/json.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { checkHistory } from './checker.js';
import type { Answer, Operation, Request } from './history.js';
import { type KeyModel, NO_KEY, step } from './model.js';

const get: Request = { op: 'get' };
const plusOne: Request = { op: 'increment', delta: 1 };
const none: Answer = { kind: 'none' };
const set = (value: JsonValue, ifVersion?: number): Request => ({
  op: 'set',
  value,
  ...(ifVersion === undefined ? {} : { ifVersion }),
});
const found = (value: JsonValue, version: number): Answer => ({ kind: 'found', value, version });
const changed = (value: JsonValue, version: number): Answer => ({ kind: 'changed', value, version });
const conflict = (currentVersion: number, currentValue?: JsonValue): Answer => ({
  kind: 'conflict',
  currentVersion,
  ...(currentValue === undefined ? {} : { currentValue }),
});

type Row = readonly [call: number, end: number, request: Request, answer: Answer | null, key?: string];

/** Ids are `1`, `2` and so on. */
function history(...rows: Row[]): Operation[] {
  return rows.map(([call, end, request, answer, key = 'k'], index) => {
    return { id: String(index + 1), key, call, return: end, request, answer };
  });
}

function expectFine(...rows: Row[]): void {
  expect(checkHistory(history(...rows))).toEqual({ ok: true });
}

function expectRefused(at: number, ...rows: Row[]): void {
  expect(checkHistory(history(...rows))).toMatchObject({ ok: false, at: String(at) });
}

describe('the check of a history accepts', () => {
  it('nothing at all', () => expectFine());

  it('operations one after the other', () =>
    expectFine(
      [1, 2, get, none],
      [3, 4, set('a', 0), changed('a', 1)],
      [5, 6, get, found('a', 1)],
      [7, 8, { op: 'delete' }, { kind: 'deleted', was: true }],
      [9, 10, { op: 'delete' }, { kind: 'deleted', was: false }],
      [11, 12, get, none],
      [13, 14, { op: 'increment', delta: 3 }, changed(3, 3)],
      [15, 16, set([]), changed([], 4)],
      [17, 18, { op: 'append', items: ['x', 'y'] }, changed(['x', 'y'], 5)],
    ));

  it('two operations at once in the order of their calls, and in the other one', () => {
    expectFine([1, 10, set('a'), changed('a', 1)], [2, 9, set('b'), changed('b', 2)]);
    expectFine([1, 10, set('a'), changed('a', 2)], [2, 9, set('b'), changed('b', 1)]);
  });

  it('a read at the same time as a change, before it and after it', () => {
    expectFine([1, 10, set('a'), changed('a', 1)], [2, 3, get, none], [4, 5, get, found('a', 1)]);
  });

  it('a lost answer of a change that happened, at once or much later', () => {
    expectFine([1, 2, set('a'), null], [3, 4, get, found('a', 1)]);
    expectFine(
      [1, 2, set('a'), null],
      [3, 4, get, none],
      [5, 6, set('b'), changed('b', 1)],
      [7, 8, get, found('a', 2)],
    );
  });

  it('a lost answer of a change that did not happen', () => {
    expectFine([1, 2, set('a'), null], [3, 4, get, none], [5, 6, set('b'), changed('b', 1)]);
    expectFine([1, 2, set('a', 7), null], [3, 4, set('b'), changed('b', 1)], [5, 6, get, found('b', 1)]);
  });

  it('a lost delete, and a delete between two claimed versions', () => {
    expectFine([1, 2, set('a'), changed('a', 1)], [3, 4, { op: 'delete' }, null], [5, 6, get, none]);
    expectFine(
      [1, 2, set('a'), changed('a', 1)],
      [3, 9, { op: 'delete' }, { kind: 'deleted', was: true }],
      [4, 8, set('b'), changed('b', 3)],
    );
  });

  it('conflicts that tell what was there', () =>
    expectFine(
      [1, 2, set('a', 4), conflict(0)],
      [3, 4, set('a'), changed('a', 1)],
      [5, 6, set('b', 0), conflict(1, 'a')],
      [7, 8, { op: 'delete', ifVersion: 1 }, { kind: 'deleted', was: true }],
      [9, 10, { op: 'increment', delta: 1, ifVersion: 1 }, conflict(0)],
    ));

  it('keys that were changed in different orders', () =>
    expectFine(
      [1, 10, set('a'), changed('a', 1), 'x'],
      [1, 10, set('b'), changed('b', 2), 'x'],
      [1, 10, set('a'), changed('a', 2), 'y'],
      [1, 10, set('b'), changed('b', 1), 'y'],
    ));
});

describe('the check of a history', () => {
  it('refuses a stale read', () =>
    expectRefused(
      3,
      [1, 2, set('a'), changed('a', 1)],
      [3, 4, set('b'), changed('b', 2)],
      [5, 6, get, found('a', 1)],
    ));

  it('refuses a read of nothing after a change was acknowledged', () =>
    expectRefused(2, [1, 2, set('a'), changed('a', 1)], [3, 4, get, none]));

  it('refuses a lost update', () =>
    expectRefused(
      3,
      [1, 2, set(0), changed(0, 1)],
      [3, 8, plusOne, changed(1, 2)],
      [4, 9, plusOne, changed(1, 3)],
    ));

  it('refuses a change that was acknowledged and is gone', () =>
    expectRefused(
      3,
      [1, 2, set('a'), changed('a', 1)],
      [3, 4, set('b'), changed('b', 2)],
      [5, 6, set('c'), changed('c', 2)],
    ));

  it('refuses a read of a value never written', () =>
    expectRefused(2, [1, 2, set('a'), changed('a', 1)], [3, 4, get, found('z', 1)]));

  it('refuses a version used twice', () =>
    expectRefused(2, [1, 10, set('a'), changed('a', 1)], [2, 9, set('b'), changed('b', 1)]));

  it('refuses a version that was skipped, unless a lost change can have taken it', () => {
    const rows: Row[] = [
      [1, 2, set('a'), changed('a', 1)],
      [3, 4, set('b'), changed('b', 3)],
    ];
    expectRefused(2, ...rows);
    expectFine(...rows, [3, 3, set('c'), null]);
    expectRefused(2, ...rows, [5, 5, set('c'), null]); // it was called too late
  });

  it('refuses a conflict that reports a version that never was', () =>
    expectRefused(2, [1, 2, set('a'), changed('a', 1)], [3, 4, set('b', 0), conflict(5, 'a')]));

  it('refuses a conflict that reports a value that never was', () =>
    expectRefused(2, [1, 2, set('a'), changed('a', 1)], [3, 4, set('b', 0), conflict(1, 'z')]));

  it('refuses a conflict that was none, and a change that was one', () => {
    expectRefused(2, [1, 2, set('a'), changed('a', 1)], [3, 4, set('b', 1), conflict(1, 'a')]);
    expectRefused(2, [1, 2, set('a'), changed('a', 1)], [3, 4, set('b', 0), changed('b', 2)]);
  });

  it('refuses non-monotonic reads', () =>
    expectRefused(3, [1, 10, set('a'), changed('a', 1)], [2, 3, get, found('a', 1)], [4, 5, get, none]));

  it('refuses an increment applied twice', () => {
    expectRefused(2, [1, 2, set(0), changed(0, 1)], [3, 4, plusOne, changed(2, 2)]);
    expectRefused(2, [1, 2, plusOne, null], [3, 4, get, found(2, 2)]);
  });

  it('refuses a delete that removed what was not there, and a set that begins at 1 again after a delete', () => {
    expectRefused(1, [1, 2, { op: 'delete' }, { kind: 'deleted', was: true }]);
    expectRefused(
      3,
      [1, 2, set('a'), changed('a', 1)],
      [3, 4, { op: 'delete' }, { kind: 'deleted', was: true }],
      [5, 6, set('b'), changed('b', 1)],
    );
  });

  it('refuses a lost change that comes back after it was overwritten and read', () =>
    expectRefused(
      4,
      [1, 2, set('a'), null],
      [3, 4, get, found('a', 1)],
      [5, 6, set('b'), changed('b', 2)],
      [7, 8, get, found('a', 3)],
    ));

  it('says which key and which operation', () => {
    const rows = history([1, 2, set('a'), changed('a', 1), 'x'], [3, 4, get, none, 'x']);
    const verdict = checkHistory(rows);
    expect(verdict).toMatchObject({ ok: false, at: '2', reason: expect.stringContaining('"x": no order') });
  });
});

/** A history that one copy gave to clients which wait for a while before and after each operation. */
function simulated(count: number, lostOf100: number, seed: number): Operation[] {
  const random = new SeededRandom(seed);
  const free = Array.from({ length: 8 }, () => 0);
  const moments = Array.from({ length: count }, (_, index) => {
    const client = index % free.length;
    const call = free[client]! + random.below(50);
    const at = call + 1 + random.below(200);
    free[client] = at + 1 + random.below(200);
    return { id: String(index), call, at, end: free[client]! };
  });
  let state: KeyModel = NO_KEY;
  return moments
    .sort((a, b) => a.at - b.at)
    .map(({ id, call, end }) => {
      const request = randomRequest(random, id, state.version);
      const lost = random.below(100) < lostOf100;
      const stepped = step(state, request);
      if (stepped && !(lost && random.below(2) === 0)) state = stepped.next;
      return { id, key: 'k', request, call, return: end, answer: lost ? null : stepped!.answer };
    });
}

function randomRequest(random: SeededRandom, id: string, version: number): Request {
  const kind = random.below(10);
  if (kind < 4) return get;
  if (kind < 6) return set(id);
  if (kind < 8) return set(id, Math.max(0, version - random.below(2)));
  return kind === 8 ? { op: 'delete' } : { op: 'delete', ifVersion: version };
}

describe('the check of a long history', () => {
  it('takes less than two seconds for 2,000 operations of 8 clients, with lost answers', () => {
    for (const seed of [1, 2, 3]) {
      const start = performance.now();
      expect(checkHistory(simulated(2_000, 1, seed))).toEqual({ ok: true });
      expect(performance.now() - start).toBeLessThan(2_000);
    }
  });

  it('finds one wrong answer anywhere in it', () => {
    for (const seed of [4, 5, 6, 7, 8]) {
      const operations = simulated(1_000, 1, seed);
      const wrong = operations.findIndex(({ answer }, index) => index > 400 && answer?.kind === 'found');
      const { answer, ...rest } = operations[wrong]!;
      if (answer?.kind !== 'found') continue;
      operations[wrong] = { ...rest, answer: { ...answer, value: 'never written' } };
      expect(checkHistory(operations)).toMatchObject({ ok: false, at: rest.id });
    }
  });
});
