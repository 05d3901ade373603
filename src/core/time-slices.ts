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

  /** Call it often: it costs little, and waits only when the slice is over. @throws ABORTED */
  breathe(): Promise<void> | undefined {
    if (this.#signal?.aborted) throw aborted(this.#signal);
    return performance.now() < this.#endsMs ? undefined : this.#pause();
  }

  async #pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#signal?.aborted) throw aborted(this.#signal);
    this.#endsMs = performance.now() + SLICE_MS;
  }
}

function aborted({ reason }: AbortSignal): RekindleError {
  return new RekindleError('ABORTED', 'The caller has gone, so the work was stopped.', { cause: reason });
}
