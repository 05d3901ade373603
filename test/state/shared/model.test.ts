/**
 * Random operations on a shared state in files, over instances that are opened anew at random, against a plain model: the state, its
 * versions, its history and each of its earlier states are those of the model. Values are so large, and the history is so short, that
 * snapshots are written and old segments are removed.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonValue } from '../../../src/core/json.js';
import { mergePatch } from '../../../src/core/merge-patch.js';
import type { StateOperation } from '../../../src/state/shared/key-decision.js';
import type { SharedState } from '../../../src/state/shared/shared-state.js';
import { runParameters } from '../../property/seed.js';
import { Den } from './shared-kit.js';

const KEYS = ['a', 'b', '__proto__', 'ä'];
const LARGE = 40_000;
const options = { limits: { history: 3, valueBytes: 60_000, keys: KEYS.length } };

const key = fc.constantFrom(...KEYS);
const large = fc.integer({ min: 0, max: 9 }).map((n) => `${n}`.repeat(LARGE));
const value = fc.oneof(
  { weight: 4, arbitrary: large },
  { weight: 1, arbitrary: fc.constantFrom<JsonValue>(0, 7, 'x', null, [], [1], {}, { a: { b: 1 } }) },
);
const setting = fc.record({ op: fc.constant('set' as const), key, value });
/** Mostly what is never refused, so that whole batches are not either. */
const operation: fc.Arbitrary<StateOperation> = fc.oneof(
  { weight: 6, arbitrary: setting },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('delete' as const), key }) },
  fc.tuple(setting, fc.nat(3)).map(([set, ifVersion]) => ({ ...set, ifVersion })),
  fc.record({ op: fc.constant('increment' as const), key, delta: fc.integer({ min: -3, max: 3 }) }),
  fc.record({ op: fc.constant('append' as const), key, items: fc.array(value, { maxLength: 2 }) }),
  fc.record({
    op: fc.constant('merge' as const),
    key,
    patch: fc.constantFrom({ a: { b: null } }, { a: { c: 2 }, x: 1 }),
  }),
);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('batch' as const),
      on: fc.nat(1),
      operations: fc.array(operation, { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('open' as const), on: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const), on: fc.nat(1), back: fc.nat(8) }) },
);

interface Entry {
  readonly value: JsonValue | undefined;
  readonly version: number;
  readonly global: number;
}

type Keys = ReadonlyMap<string, Entry>;

/** Each commit makes a new map; which map a version shows is kept for each. */
class Model {
  keys: Keys = new Map();
  /** By global version: what `at` shows, which for a version inside a commit is the state before it. */
  readonly shown: Keys[] = [this.keys];
  readonly changes: (Entry & { readonly key: string })[] = [];

  isInside(version: number): boolean {
    return version < this.changes.length && this.shown[version] === this.shown[version - 1];
  }

  /** Whether it is applied. */
  batch(operations: readonly StateOperation[]): boolean {
    const trial = new Map(this.keys);
    const made: (Entry & { readonly key: string })[] = [];
    let conflict = false;
    for (const one of operations) {
      const before = trial.get(one.key);
      const current = before?.value === undefined ? 0 : before.version;
      if (one.ifVersion !== undefined && one.ifVersion !== current) {
        conflict = true;
        continue;
      }
      if (one.op === 'delete' && current === 0) continue;
      const after = applied(before?.value, one);
      if (after === 'refused') return false;
      const entry = {
        value: after.value,
        version: (before?.version ?? 0) + 1,
        global: this.changes.length + made.length + 1,
      };
      trial.set(one.key, entry);
      made.push({ key: one.key, ...entry });
      const isTooLarge =
        after.value !== undefined && JSON.stringify(after.value).length > options.limits.valueBytes;
      if (isTooLarge) return false;
    }
    if (conflict) return false;
    if (made.length === 0) return true;
    for (const [index] of made.entries()) this.shown.push(index === made.length - 1 ? trial : this.keys);
    this.changes.push(...made);
    this.keys = trial;
    return true;
  }
}

function withValue(keys: Keys): [string, Entry][] {
  return [...keys].filter(([, entry]) => entry.value !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
}

function applied(
  before: JsonValue | undefined,
  operation: StateOperation,
): { value: JsonValue | undefined } | 'refused' {
  switch (operation.op) {
    case 'set':
      return { value: operation.value as JsonValue };
    case 'delete':
      return { value: undefined };
    case 'increment':
      return typeof before === 'number' || before === undefined
        ? { value: (before ?? 0) + operation.delta! + 0 }
        : 'refused';
    case 'append':
      return Array.isArray(before) || before === undefined
        ? { value: [...(before ?? []), ...(operation.items as JsonValue[])] }
        : 'refused';
    case 'merge':
      return before === undefined || isJsonObject(before)
        ? { value: mergePatch(before, operation.patch as JsonValue) }
        : 'refused';
  }
}

/** A text for each, so that what differs is not printed as 25,000 characters. */
const short = (found: JsonValue | undefined) => JSON.stringify(found)?.replace(/(\d)\1{99,}/g, '$1…');
const shortKeys = (keys: Keys) =>
  withValue(keys).map(([name, { value: held, version, global }]) => [name, short(held), version, global]);

async function expectView(state: SharedState, model: Model): Promise<void> {
  const { globalVersion, keys } = await state.getAll();
  expect(globalVersion).toBe(model.changes.length);
  expect(keys.map((found) => [found.key, short(found.value), found.version, found.globalVersion])).toEqual(
    shortKeys(model.keys),
  );
}

async function expectPast(state: SharedState, model: Model, back: number, counts: Counts): Promise<void> {
  const oldest = await state.oldestVersion();
  if (oldest > 0) counts.removed += 1;
  expect(oldest).toBeLessThanOrEqual(Math.max(0, model.changes.length - options.limits.history));
  const version = Math.max(oldest, model.changes.length - back);
  const { keys } = await state.at(version);
  expect(keys.map((found) => [found.key, short(found.value), found.version, found.globalVersion])).toEqual(
    shortKeys(model.shown[version]!),
  );
  if (oldest > 0)
    await expect(state.at(oldest - 1)).rejects.toMatchObject({ code: 'HISTORY_GONE', details: { oldest } });
  const since = await state.changesSince(version, 1_000);
  const expected = model.changes.slice(version);
  expect(
    since.map((change) => [change.key, change.globalVersion, change.version, short(change.value)]),
  ).toEqual(expected.map((change) => [change.key, change.global, change.version, short(change.value)]));
  const { changes, complete } = await state.history('a', 1_000);
  const own = model.changes.filter((change) => change.key === 'a' && change.global > oldest);
  expect(changes.map(({ version: at }) => at)).toEqual(own.map(({ version: at }) => at).reverse());
  expect(complete).toBe(oldest === 0);
}

type Steps = (typeof step extends fc.Arbitrary<infer T> ? T : never)[];

interface Counts {
  removed: number;
}

async function play(steps: Steps, counts: Counts): Promise<void> {
  const den = await Den.files(30_000);
  const model = new Model();
  const states = [den.state(options), den.state(options)];
  for (const one of steps) {
    const state = states[one.on]!;
    if (one.do === 'batch') {
      const found = await state.batch(one.operations).then(
        (result) => result.applied,
        () => false,
      );
      expect(found).toBe(model.batch(one.operations));
      await expectView(states[1 - one.on]!, model);
    } else if (one.do === 'open') {
      await state.close();
      states[one.on] = den.state(options);
    } else {
      await expectPast(state, model, one.back, counts);
    }
  }
  for (const state of states) await state.close();
  await expectView(den.state(options), model);
  await expectPast(den.state(options), model, 5, counts);
}

/** Enough of it for old history to go, whatever the random ones do. */
const filling: Steps = [
  ...Array.from({ length: 14 }, (_, n) => ({
    do: 'batch' as const,
    on: 0,
    operations: [{ op: 'set' as const, key: KEYS[n % 2]!, value: `${n % 10}`.repeat(LARGE) }],
  })),
  { do: 'look', on: 1, back: 3 },
];

describe('a shared state', () => {
  it('is what a plain model is, after any operations, in any instance', async () => {
    const counts: Counts = { removed: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 25, size: 'max' }), (steps) =>
        play(steps, counts),
      ),
      { ...runParameters('shared-state', 2), examples: [[filling]] },
    );
    expect(counts.removed).toBeGreaterThan(0); // else it tries less than it says
  }, 600_000);
});
