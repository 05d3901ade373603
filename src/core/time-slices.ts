/** Long work in slices: between two of them the event loop takes its turn, and the work ends when its caller has gone. */
import { RekindleError } from './errors.js';

/** How long the event loop is held at a time, in milliseconds. */
const SLICE_MS = 8;

export class TimeSlices {
  readonly #signal: AbortSignal | undefined;
  #endsMs = performance.now() + SLICE_MS;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time for `pause`. Ask it often: it costs little, and a step that need not wait makes no promise. */
  get isOver(): boolean {
    return this.#signal?.aborted === true || performance.now() >= this.#endsMs;
  }

  /** @throws ABORTED */
  async pause(): Promise<void> {
    this.#assertWanted();
    await new Promise((resolve) => setImmediate(resolve));
    this.#assertWanted();
    this.#endsMs = performance.now() + SLICE_MS;
  }

  #assertWanted(): void {
    if (!this.#signal?.aborted) return;
    throw new RekindleError('ABORTED', 'The caller has gone, so the work was stopped.', {
      cause: this.#signal.reason,
    });
  }
}
