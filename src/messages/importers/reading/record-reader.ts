/** Reads single records of a source by their byte ranges. Neighbouring records share one read of the source. */
import { utf8Text } from '../../../core/bytes.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { parseJsonKeepingDigits } from '../../../core/json-digits.js';
import type { TranscriptSource } from '../transcript.js';

/** Bytes per read, if the wanted record is not in memory. */
const WINDOW_BYTES = 128 * 1024;
/** The records of a source up to this size, in bytes, are kept from the first pass: parsing twice is most of the work. */
const KEPT_SOURCE_BYTES = 32 * 1024 * 1024;

export class RecordReader {
  readonly #source: TranscriptSource;
  #held: Uint8Array = new Uint8Array();
  #start = 0;
  readonly #kept: Map<number, JsonObject> | null;

  constructor(source: TranscriptSource) {
    this.#source = source;
    this.#kept = source.size <= KEPT_SOURCE_BYTES ? new Map() : null;
  }

  /** Keeps a record that was parsed in the first pass. */
  remember({ start, value }: { readonly start: number; readonly value: JsonObject }): void {
    this.#kept?.set(start, value);
  }

  /** An empty object if the bytes changed since the first pass. */
  async read(start: number, end: number): Promise<JsonObject> {
    const kept = this.#kept?.get(start);
    if (kept) return kept;
    if (start < this.#start || end > this.#start + this.#held.length) {
      this.#held = await this.#source.slice(start, Math.max(end, start + WINDOW_BYTES));
      this.#start = start;
    }
    const bytes = this.#held.subarray(start - this.#start, end - this.#start);
    try {
      const value = parseJsonKeepingDigits(utf8Text(bytes));
      return isJsonObject(value) ? value : {};
    } catch {
      return {};
    }
  }
}
