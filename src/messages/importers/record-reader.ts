/** Reads single records of a source by their ranges. Neighbouring records come out of one read of the source. */
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { parseJsonKeepingDigits } from '../../core/json-digits.js';
import type { TranscriptSource } from './transcript.js';

/** Read at once, when the wanted record is not held. */
const WINDOW_BYTES = 128 * 1024;

export class RecordReader {
  readonly #source: TranscriptSource;
  #held: Uint8Array = new Uint8Array();
  #start = 0;

  constructor(source: TranscriptSource) {
    this.#source = source;
  }

  /** An empty object where the bytes are no longer what they were in the first pass. */
  async read(start: number, end: number): Promise<JsonObject> {
    if (start < this.#start || end > this.#start + this.#held.length) {
      this.#held = await this.#source.slice(start, Math.max(end, start + WINDOW_BYTES));
      this.#start = start;
    }
    const { buffer, byteOffset, length } = this.#held.subarray(start - this.#start, end - this.#start);
    const bytes = Buffer.from(buffer, byteOffset, length);
    try {
      const value = parseJsonKeepingDigits(bytes.toString('utf8'));
      return isJsonObject(value) ? value : {};
    } catch {
      return {};
    }
  }
}
