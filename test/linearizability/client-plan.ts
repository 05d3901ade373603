/** What a client does next, by chance: keys of three kinds, so that no operation meets a value of a type that it cannot take. */
import type { JsonValue } from '../../src/core/json.js';
import type { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import type { Request } from './history.js';

export interface ClientSettings {
  /** A folder, or the address of another store. */
  readonly place: string;
  readonly root: string;
  /** Unique in a store: values are made of it, so that no two writes are alike. */
  readonly client: string;
  readonly seed: number;
  readonly operations: number;
  /** Operations under way at once. */
  readonly lanes: number;
  /** Files of the journal are short, where it has files: that a new one begins happens rarely otherwise, and here all the time. */
  readonly short: boolean;
  readonly bug?: Bug | undefined;
}

/** What the check has to find; see `planted.ts`. */
export const BUGS = ['stale-read', 'lost-update', 'applied-twice', 'early-answer'] as const;
export type Bug = (typeof BUGS)[number];

export const KEYS = ['register-a', 'register-b', 'counter-a', 'counter-b', 'list'] as const;

export interface Planned {
  readonly key: string;
  readonly request: Request;
  /** Before the next one: sometimes longer than the right to write stays with a process. */
  readonly sleepMs: number;
}

/** @param seen the version of a key that this client saw last */
export function planOperation(
  random: SeededRandom,
  unique: string,
  seen: (key: string) => number | undefined,
): Planned {
  const key = random.pick(KEYS);
  const request = planRequest(random, key, unique);
  return { key, request: withCondition(random, request, seen(key)), sleepMs: planSleep(random) };
}

function planRequest(random: SeededRandom, key: string, unique: string): Request {
  const dice = random.below(100);
  if (dice < 35) return { op: 'get' };
  if (dice < 43) return { op: 'delete' };
  if (key.startsWith('counter') && dice < 80) return { op: 'increment', delta: 1 + random.below(3) };
  if (key === 'list' && dice < 80) return { op: 'append', items: itemsOf(random, unique) };
  return { op: 'set', value: valueFor(random, key, unique) };
}

function valueFor(random: SeededRandom, key: string, unique: string): JsonValue {
  if (key.startsWith('counter')) return random.below(1_000_000_000);
  return key === 'list' ? itemsOf(random, unique) : { by: unique };
}

function itemsOf(random: SeededRandom, unique: string): string[] {
  return Array.from({ length: random.below(3) }, (_, index) => `${unique}/${index}`);
}

function withCondition(random: SeededRandom, request: Request, seen: number | undefined): Request {
  if (request.op === 'get') return request;
  const dice = random.below(100);
  if (dice < 12) return { ...request, ifVersion: 0 };
  return dice < 55 && seen !== undefined ? { ...request, ifVersion: seen } : request;
}

function planSleep(random: SeededRandom): number {
  const dice = random.below(10);
  if (dice < 6) return 0;
  return dice < 9 ? random.below(12) : 20 + random.below(50);
}
