/** Time as a port, so that tests can hold it still. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  nowMs(): number;
  /** Milliseconds that never jump, for durations. Default: `performance.now()`. */
  monotonicMs?(): number;
  /** Resolves when so many milliseconds have passed on this clock. Default: a timer. */
  sleep?(ms: number): Promise<void>;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Milliseconds since some moment; the wall clock may be set meanwhile. */
export function monotonicMs(clock: Clock): number {
  return clock.monotonicMs?.() ?? performance.now();
}

export async function sleepOn(clock: Clock, ms: number): Promise<void> {
  await (clock.sleep ? clock.sleep(ms) : sleep(ms));
}

/** A clock that moves only when told to; for tests and for the simulated disk. Sleeping moves it, and takes no time. */
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
