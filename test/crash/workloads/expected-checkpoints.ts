/** Which checkpoints must be there after a crash, and which may: by what was begun and what was acknowledged. */
import type { JsonObject } from '../../../src/core/json.js';
import type { Fact } from '../history.js';
import { demand } from '../workload.js';

export class ExpectedCheckpoints {
  /** Steps by number. */
  live = new Map<number, number>();
  /** Their removal was begun. */
  readonly going = new Set<number>();
  /** Steps whose saving was begun. */
  readonly coming = new Set<number>();
  readonly critical = new Set<number>();
  readonly archived = new Set<number>();
  isKeyMarked = false;
  /** Numbers that were acknowledged, or seen by a change that was. */
  readonly given = new Set<number>();

  constructor(facts: readonly Fact[]) {
    for (const { fact, acked } of facts) this.#take(fact, acked);
  }

  #take(fact: JsonObject, acked: JsonObject | null): void {
    if (acked === null) {
      this.#takeBegun(fact);
      return;
    }
    if (fact['op'] === 'mark') {
      if ('number' in fact) this.critical.add(Number(fact['number']));
      else this.isKeyMarked = true;
    }
    if (fact['op'] === 'archive') this.archived.add(Number(fact['number']));
    if (fact['op'] === 'seen') this.#see(fact['live'] as [number, number][]);
    if (fact['op'] === 'save') {
      const number = Number(acked['number']);
      this.live.set(number, Number(fact['step']));
      this.given.add(number);
    }
    for (const number of (acked['removed'] ?? []) as number[]) this.live.delete(number);
  }

  #takeBegun(fact: JsonObject): void {
    if (fact['op'] === 'save') {
      this.coming.add(Number(fact['step']));
      // The oldest that is not critical makes room; who it is, is not known where an earlier mark or saving is in doubt.
      for (const number of this.live.keys()) if (!this.critical.has(number)) this.going.add(number);
    }
    if (fact['op'] === 'remove') for (const number of fact['numbers'] as number[]) this.going.add(number);
  }

  #see(live: readonly [number, number][]): void {
    this.live = new Map(live);
    this.going.clear();
    this.coming.clear();
    for (const number of this.live.keys()) this.given.add(number);
  }

  check(found: ReadonlyMap<number, number>): void {
    const list = [...found.keys()];
    for (const [number, step] of this.live)
      demand(
        found.get(number) === step || (!found.has(number) && this.going.has(number)),
        () => `acknowledged checkpoint ${number} is lost; found ${list.join(' ') || 'none'}`,
      );
    for (const [number, step] of found) {
      if (this.live.has(number)) continue;
      demand(
        !this.given.has(number),
        () => `removed checkpoint ${number} is back, or its number is used again`,
      );
      demand(this.coming.has(step), () => `checkpoint ${number} was never saved`);
    }
  }
}
