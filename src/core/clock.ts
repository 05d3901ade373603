/** Time as a port, so that tests can control it. */
import { setTimeout as sleep } from 'node:timers/promises';

/** The source of time. Pass your own in tests; the default is the system clock. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  nowMs(): number;
  /** Milliseconds that never jump, for durations. Default: `performance.now()`. */
  monotonicMs?(): number;
  /** Resolves after `ms` milliseconds on this clock. Default: a timer. */
  sleep?(ms: number): Promise<void>;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Milliseconds from an arbitrary start. Changes to the wall clock do not affect it. */
export function monotonicMs(clock: Clock): number {
  return clock.monotonicMs?.() ?? performance.now();
}

export async function sleepOn(clock: Clock, ms: number): Promise<void> {
  await (clock.sleep ? clock.sleep(ms) : sleep(ms));
}

/** A clock that moves only when `advance` or `sleep` is called. `sleep` returns at once. For tests and the simulated disk. */
export class ManualClock implements Clock {
  #now: number;

  constructor(startMs = 1_700_000_000_000) {
    this.#now = startMs;
  }

  nowMs(): number {
    return this.#now;
  }

  monotonicMs(): number {
    return this.#now;
  }

  async sleep(ms: number): Promise<void> {
    this.#now += ms;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}
