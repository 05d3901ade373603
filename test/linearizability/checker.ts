/**
 * Is there an order of all operations that respects real time, in which one copy of the key gives just these answers?
 *
 * The search of Wing and Gong, with the memory of Lowe: a point of the search is the set of operations that are done and the state
 * that they led to, and no point is looked at twice. Three things keep it short, and none of them can hide an order or make one up:
 *
 * - What changes nothing and fits now is done now: later it would be no better.
 * - A version that some answer claims is for that operation alone: operations that do not tell their version (a delete, or one whose
 *   answer was lost) take only the others, and only with the value that was seen there.
 * - Versions only grow, so a point is given up when an answer speaks of one that is past.
 */
import { canonicalJson } from '../../src/core/canonical-json.js';
import type { JsonValue } from '../../src/core/json.js';
import type { Answer, Operation } from './history.js';
import { isSame, isSameAnswer, type KeyModel, NO_KEY, seenIn, step } from './model.js';

export type Verdict =
  | { readonly ok: true }
  /** `at` is the operation that had to come next and could not. */
  | { readonly ok: false; readonly reason: string; readonly at: string };

/** A search that comes here is not going to end. */
const POINTS_MAX = 2_000_000;

/** Keys do not know of each other, so each is looked at alone. */
export function checkHistory(operations: readonly Operation[]): Verdict {
  for (const key of new Set(operations.map((operation) => operation.key))) {
    const verdict = new KeySearch(operations.filter((operation) => operation.key === key)).run();
    if (!verdict.ok) return { ...verdict, reason: `${JSON.stringify(key)}: ${verdict.reason}` };
  }
  return { ok: true };
}

type Answered = Operation & { readonly answer: Answer };

/** A point of the search. */
interface Point {
  /** All answered operations before it are done. */
  readonly low: number;
  /** Of those from `low` on, which are done; bit 0 is `low`, and never set. */
  readonly done: bigint;
  /** Which lost operations have happened. */
  readonly happened: bigint;
  /** How many answered operations are done. */
  readonly count: number;
  readonly state: KeyModel;
}

class KeySearch {
  readonly #answered: readonly Answered[];
  readonly #lost: readonly Operation[];
  readonly #claimed = new Set<number>();
  readonly #seen = new Map<number, JsonValue>();
  readonly #visited = new Set<string>();
  #deepest: Point = { low: 0, done: 0n, happened: 0n, count: 0, state: NO_KEY };

  constructor(operations: readonly Operation[]) {
    const inOrder = operations.toSorted((a, b) => a.call - b.call);
    this.#answered = inOrder.filter((operation): operation is Answered => operation.answer !== null);
    // A lost read changed nothing and told nothing.
    this.#lost = inOrder.filter(({ answer, request }) => answer === null && request.op !== 'get');
    for (const { answer } of this.#answered) {
      const seen = seenIn(answer);
      if (seen && !this.#seen.has(seen.version)) this.#seen.set(seen.version, seen.value);
      if (answer.kind === 'changed') this.#claimed.add(answer.version);
    }
  }

  run(): Verdict {
    const stack: Point[] = [this.#deepest];
    for (let point = stack.pop(); point; point = stack.pop()) {
      const settled = this.#doWhatChangesNothing(point);
      if (settled.low === this.#answered.length) return { ok: true };
      if (!this.#isNew(settled)) continue;
      if (this.#visited.size > POINTS_MAX)
        return this.#refusal('the search was given up, too much is possible');
      if (settled.count >= this.#deepest.count) this.#deepest = settled;
      stack.push(...this.#next(settled));
    }
    return this.#refusal('no order of the operations explains the answers');
  }

  #isNew({ low, done, happened, state }: Point): boolean {
    const value = state.value === undefined ? '' : canonicalJson(state.value);
    const name = `${low} ${done.toString(36)} ${happened.toString(36)} ${state.version} ${value}`;
    const before = this.#visited.size;
    return this.#visited.add(name).size > before;
  }

  /** Those that may come next: called before the first of all that are left has returned. */
  #open({ low, done }: Point): { readonly open: readonly number[]; readonly until: number } {
    const open: number[] = [];
    let until = Number.POSITIVE_INFINITY;
    for (let index = low; index < this.#answered.length; index += 1) {
      const operation = this.#answered[index]!;
      if (operation.call > until) break;
      if (isSet(done, index - low)) continue;
      open.push(index);
      until = Math.min(until, operation.return);
    }
    return { open, until };
  }

  #doWhatChangesNothing(point: Point): Point {
    for (;;) {
      const fitting = this.#open(point).open.filter((index) => {
        const { request, answer } = this.#answered[index]!;
        const stepped = step(point.state, request);
        return stepped && stepped.next === point.state && isSameAnswer(stepped.answer, answer);
      });
      if (fitting.length === 0) return point;
      for (const index of fitting) point = this.#with(point, index, point.state);
    }
  }

  /** The points after one more change; the likeliest last. */
  #next(point: Point): Point[] {
    const { open, until } = this.#open(point);
    if (open.some((index) => isPast(this.#answered[index]!.answer, point.state))) return [];
    const points: Point[] = [];
    for (const [index, { call, request }] of this.#lost.entries()) {
      if (call > until || isSet(point.happened, index)) continue;
      const state = step(point.state, request)?.next;
      if (!state || state === point.state || !this.#isFree(state)) continue;
      points.push({ ...point, happened: point.happened | bit(index), state });
    }
    for (const index of open) {
      const { request, answer } = this.#answered[index]!;
      const stepped = step(point.state, request);
      if (!stepped || stepped.next === point.state || !isSameAnswer(stepped.answer, answer)) continue;
      if (answer.kind === 'deleted' && !this.#isFree(stepped.next)) continue;
      points.push(this.#with(point, index, stepped.next));
    }
    return points;
  }

  /** Whether an operation that does not tell its version may have made this one. */
  #isFree({ version, value }: KeyModel): boolean {
    if (this.#claimed.has(version)) return false;
    return !this.#seen.has(version) || isSame(this.#seen.get(version), value);
  }

  #with(point: Point, index: number, state: KeyModel): Point {
    let { low } = point;
    let done = point.done | bit(index - low);
    while ((done & 1n) === 1n) {
      done >>= 1n;
      low += 1;
    }
    return { ...point, low, done, count: point.count + 1, state };
  }

  #refusal(why: string): Verdict {
    const { state, count } = this.#deepest;
    const open = this.#open(this.#deepest).open.map((index) => this.#answered[index]!);
    const first = open.reduce((a, b) => (b.return < a.return ? b : a));
    const now = state.value === undefined ? 'no value' : JSON.stringify(state.value);
    const reason =
      `${why}; the best one ends after ${count} of ${this.#answered.length} with version ` +
      `${state.version} and ${now}, where ${describe(first)} has to come next`;
    return { ok: false, reason, at: first.id };
  }
}

function isPast(answer: Answer, { version }: KeyModel): boolean {
  const seen = seenIn(answer);
  return seen !== null && (answer.kind === 'changed' ? seen.version <= version : seen.version < version);
}

function describe({ id, request, answer }: Operation): string {
  return `${id} ${JSON.stringify(request)} -> ${JSON.stringify(answer)}`;
}

function bit(index: number): bigint {
  return 1n << BigInt(index);
}

function isSet(bits: bigint, index: number): boolean {
  return ((bits >> BigInt(index)) & 1n) === 1n;
}
