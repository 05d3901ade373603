/** A client with the bug that it is told to have: what the check must find. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonValue } from '../../src/core/json.js';
import type { SharedState, StateKey } from '../../src/state/shared/shared-state.js';
import type { Bug } from './client-plan.js';

/** What a client asks a state for. */
export type Asked = Pick<SharedState, 'get' | 'set' | 'delete' | 'increment' | 'append'>;

export function planted(state: SharedState, bug: Bug | undefined): Asked {
  if (bug === undefined) return state;
  const asked: Asked = {
    get: (key) => state.get(key),
    set: (key, value, options) => state.set(key, value, options),
    delete: (key, options) => state.delete(key, options),
    increment: (key, delta, options) => state.increment(key, delta, options),
    append: (key, items, options) => state.append(key, items, options),
  };
  return { ...asked, ...BUGGY[bug](state) };
}

const BUGGY: Readonly<Record<Bug, (state: SharedState) => Partial<Asked>>> = {
  'stale-read': fromCache,
  'lost-update': withoutCondition,
  'applied-twice': twice,
  'early-answer': early,
};

/** Reads the store once for each key, then a copy that only own changes renew. */
function fromCache(state: SharedState): Partial<Asked> {
  const last = new Map<string, StateKey | null>();
  const keep = <T extends StateKey | null>(key: string, found: T): T => {
    last.set(key, found);
    return found;
  };
  return {
    get: async (key) => last.get(key) ?? keep(key, await state.get(key)),
    set: async (key, value, options) => keep(key, await state.set(key, value, options)),
  };
}

/** Reads, adds, and writes without looking whether it is still the same. */
function withoutCondition(state: SharedState): Partial<Asked> {
  return {
    increment: async (key, delta = 1, options) => {
      if (options?.ifVersion !== undefined) return state.increment(key, delta, options);
      const before = (await state.get(key))?.value;
      await sleep(40); // so that others come between for sure
      return state.set(key, (typeof before === 'number' ? before : 0) + delta);
    },
  };
}

/** As one that tries again although the first try went well. */
function twice(state: SharedState): Partial<Asked> {
  return {
    increment: async (key, delta) => {
      await state.increment(key, delta);
      return state.increment(key, delta);
    },
  };
}

/** Says that it is done with a set before others can see it. */
function early(state: SharedState): Partial<Asked> {
  return {
    set: async (key, value: unknown, options) => {
      const before = await state.get(key);
      void state.set(key, value, options).catch(() => {});
      const now = new Date(0).toISOString();
      const version = (before?.version ?? 0) + 1;
      const times = { createdAt: now, updatedAt: now, updatedBy: 'nobody' };
      return { key, value: value as JsonValue, version, globalVersion: 0, ...times };
    },
  };
}
