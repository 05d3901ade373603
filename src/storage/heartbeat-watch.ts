/**
 * For how long a heartbeat has stood still, as this process saw it. The time that a heartbeat carries is by the clock of whoever made
 * it, and may be hours away from ours; that it changed, everybody sees alike.
 */
import { type Clock, monotonicMs } from '../core/clock.js';

/** Of one clock: enough for those who wait at the same time. */
const SEEN_MAX = 10_000;

export class HeartbeatWatch {
  static readonly #all = new WeakMap<Clock, HeartbeatWatch>();
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly mark: string; readonly sinceMs: number }>();

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One for all who go by this clock: what one of them saw counts for the others. */
  static on(clock: Clock): HeartbeatWatch {
    let watch = HeartbeatWatch.#all.get(clock);
    if (!watch) HeartbeatWatch.#all.set(clock, (watch = new HeartbeatWatch(clock)));
    return watch;
  }

  /** @param mark differs when the heart has beaten. 0 at the first look. */
  unchangedMs(key: string, mark: string): number {
    const now = monotonicMs(this.#clock);
    const before = this.#seen.get(key);
    if (before?.mark === mark) return now - before.sinceMs;
    this.#seen.delete(key);
    this.#seen.set(key, { mark, sinceMs: now });
    if (this.#seen.size > SEEN_MAX) this.#seen.delete(this.#seen.keys().next().value!);
    return 0;
  }
}
