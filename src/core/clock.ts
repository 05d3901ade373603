/** Time as a port, so that tests can hold it still. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** A clock that moves only when told to; for tests and for the simulated disk. */
export class ManualClock implements Clock {
  #now: number;

  constructor(startMs = 1_700_000_000_000) {
    this.#now = startMs;
  }

  nowMs(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}
