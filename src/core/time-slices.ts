/** Long work in slices: the event loop runs between two slices, and the work stops when its caller is gone. */
import { RekindleError } from './errors.js';

/** How long one slice blocks the event loop, in milliseconds. */
const SLICE_MS = 8;

export class TimeSlices {
  readonly #signal: AbortSignal | undefined;
  #endsMs = performance.now() + SLICE_MS;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time to call `pause`. Cheap enough to check often; a step that need not wait creates no promise. */
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
