/** Recently used records of a thread: a graph reads its newest checkpoint again and again. */
import { type ThreadRecord, valuesIn } from './thread-record.js';
import type { ChannelValue } from './value-delta.js';

/** Limit of their values, in characters. */
const SIZE_MAX = 512 * 1024;
/** Size of a record without its values. */
const RECORD_SIZE = 500;

export class RecentRecords {
  /** Least recently used first. */
  readonly #records = new Map<number, ThreadRecord>();
  #size = 0;

  get(seq: number): ThreadRecord | undefined {
    const record = this.#records.get(seq);
    if (!record) return undefined;
    this.#records.delete(seq);
    this.#records.set(seq, record);
    return record;
  }

  add(seq: number, record: ThreadRecord): void {
    if (this.get(seq)) return; // two readers at once
    this.#records.set(seq, record);
    this.#size += sizeOf(record);
    for (const [oldest, old] of this.#records) {
      if (this.#size <= SIZE_MAX) return;
      this.#records.delete(oldest);
      this.#size -= sizeOf(old);
    }
  }
}

function sizeOf(record: ThreadRecord): number {
  return valuesIn(record).reduce((size, value) => size + lengthOf(value), RECORD_SIZE);
}

function lengthOf(value: ChannelValue): number {
  const content = 'delta' in value ? value.delta : value;
  if ('text' in content) return content.text.length;
  return 'base64' in content ? content.base64.length : 0;
}
