/**
 * Measures for how long a heartbeat has not changed, as seen by this process. The time inside a heartbeat is from its
 * owner's clock and may be hours off; whether it changed is the same for all observers.
 */
import { type Clock, monotonicMs } from '../core/clock.js';

/** Entries per clock: enough for all that wait at the same time. */
const SEEN_MAX = 10_000;

export class HeartbeatWatch {
  static readonly #all = new WeakMap<Clock, HeartbeatWatch>();
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly mark: string; readonly sinceMs: number }>();

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One instance per clock: observations are shared by all its users. */
  static on(clock: Clock): HeartbeatWatch {
    let watch = HeartbeatWatch.#all.get(clock);
    if (!watch) HeartbeatWatch.#all.set(clock, (watch = new HeartbeatWatch(clock)));
    return watch;
  }

  /** @param mark differs after each heartbeat. Returns 0 at the first look. */
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
