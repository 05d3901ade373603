/** Counts, times, and what must not happen. */
import type { Plant } from './child-lines.js';

export interface MovesReport {
  readonly counts: Readonly<Record<string, number>>;
  /** From the first try to the restored agent, in milliseconds. */
  readonly restoreMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly violations: readonly string[];
}

export class MoveTally {
  readonly #counts = new Map<string, number>();
  readonly #restoresMs: number[] = [];
  readonly #violations: string[] = [];
  lastMove = '';

  add(name: string, amount = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + amount);
  }

  restored(ms: number): void {
    this.#restoresMs.push(ms);
  }

  /** The same thing is told once: what is stored is looked at after each move. */
  complain(text: string): void {
    if (!this.#violations.includes(text)) this.#violations.push(text);
  }

  /** A planted bug has to be found, not to be found again. */
  isEnough(plant: Plant | undefined): boolean {
    return this.#violations.length > (plant === undefined ? 20 : 0);
  }

  report(): MovesReport {
    const sorted = this.#restoresMs.toSorted((a, b) => a - b);
    const at = (part: number) =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0);
    const counts = Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
    return { counts, restoreMs: { p50: at(0.5), p99: at(0.99), max: at(1) }, violations: this.#violations };
  }
}
