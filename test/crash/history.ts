/**
 * What a workload did, and when: each action is begun before its first disk operation, and acknowledged when the
 * storage said that it is durable. At a crash point it is then known what must be there and what may be there.
 */
import type { JsonObject } from '../../src/core/json.js';

interface Action {
  readonly fact: JsonObject;
  readonly begunAt: number;
  ackedAt: number | null;
  answer: JsonObject | null;
}

/** One action as a crash point sees it. */
export interface Fact {
  readonly fact: JsonObject;
  /** What the storage answered; null when it had not yet, so that the outcome is unknown. */
  readonly acked: JsonObject | null;
}

export class History {
  readonly #actions: Action[];
  readonly #point: () => number;

  constructor(point: () => number, before: readonly Fact[] = []) {
    this.#point = point;
    this.#actions = before.map(({ fact, acked }) => ({
      fact,
      begunAt: -1,
      ackedAt: acked === null ? null : -1,
      answer: acked,
    }));
  }

  /** Begins an action; the returned function acknowledges it. */
  begin(fact: JsonObject): (answer?: JsonObject) => void {
    const action: Action = { fact, begunAt: this.#point(), ackedAt: null, answer: null };
    this.#actions.push(action);
    return (answer = {}) => {
      action.ackedAt = this.#point();
      action.answer = answer;
    };
  }

  /** Acknowledges an action of an earlier process whose effect was seen, and built upon since. */
  confirm(matches: (fact: JsonObject) => boolean, answer: JsonObject): void {
    for (const action of this.#actions) {
      if (action.ackedAt !== null || action.fact['doubtful'] === true || !matches(action.fact)) continue;
      action.ackedAt = this.#point();
      action.answer = answer;
    }
  }

  /** After a failed sync no later process can make it durable by syncing: seen or not, it may vanish. */
  doubt(matches: (fact: JsonObject) => boolean): void {
    for (const action of this.#actions) if (matches(action.fact)) action.fact['doubtful'] = true;
  }

  /** In the order of their beginning. */
  at(point: number): Fact[] {
    return this.#actions
      .filter((action) => action.begunAt <= point)
      .map((action) => ({
        fact: action.fact,
        acked: action.ackedAt !== null && action.ackedAt <= point ? action.answer : null,
      }));
  }
}
