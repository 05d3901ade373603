/**
 * The fewest breaks that any ladder can have which comes down to the target: the steps of the replay, added up, and brought to exactly
 * the target whenever they reach the trigger.
 */
export class BreakFloor {
  readonly #trigger: number;
  readonly #targets: readonly number[];
  readonly #sizes: number[];
  readonly breaks: number[];

  /** @param targets in tokens */
  constructor(trigger: number, targets: readonly number[]) {
    this.#trigger = trigger;
    this.#targets = targets;
    this.#sizes = targets.map(() => 0);
    this.breaks = targets.map(() => 0);
  }

  begin(): void {
    this.#sizes.fill(0);
  }

  add(tokens: number): void {
    for (const index of this.#sizes.keys()) this.#sizes[index]! += tokens;
  }

  /** Before a request. */
  fit(): void {
    for (const [index, size] of this.#sizes.entries()) {
      if (size < this.#trigger) continue;
      this.#sizes[index] = this.#targets[index]!;
      this.breaks[index]! += 1;
    }
  }
}
