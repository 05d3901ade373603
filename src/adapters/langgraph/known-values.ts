/** Recently written or read channel values of a thread, to find the common beginning of a new value. */

/** The part of a value, from this byte to the next part, that a record stores. */
export interface ValuePart {
  readonly seq: number;
  readonly start: number;
}

export interface KnownValue {
  readonly channel: string;
  /** The record of the value. */
  readonly seq: number;
  /** The type that the serializer returned. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** The records with its parts: `seq` and `start` ascend, and the first part starts at 0. */
  readonly parts: readonly ValuePart[];
}

/** Shorter values are never stored as deltas, in bytes. */
export const BASE_MIN = 512;
/** Limit of all values of one thread, in bytes. */
const SIZE_MAX = 2 * 1024 * 1024;
/**
 * One larger value is kept alone, because otherwise each put of a long thread would read it again. In bytes.
 */
const VALUE_MAX = 16 * 1024 * 1024;
const PART_SIZE = 40;

export class KnownValues {
  /** Least recently used first. */
  #values: KnownValue[] = [];
  #size = 0;

  /** The value of a channel in a record. With a length: one that begins with that many of its bytes. */
  find(channel: string, seq: number, length = Number.POSITIVE_INFINITY): KnownValue | undefined {
    const found = this.#values.findLast((known) => known.channel === channel && reaches(known, seq, length));
    if (found) this.#values = [...this.#values.filter((known) => known !== found), found];
    return found;
  }

  add(value: KnownValue): void {
    if (value.bytes.length < BASE_MIN || value.bytes.length > VALUE_MAX) return;
    if (this.find(value.channel, value.seq)) return; // two readers at once
    this.#values.push(value);
    this.#size += sizeOf(value);
    while (this.#size > SIZE_MAX && this.#values.length > 1) this.#size -= sizeOf(this.#values.shift()!);
  }
}

function reaches({ seq: own, parts, bytes }: KnownValue, seq: number, length: number): boolean {
  if (own === seq) return true;
  const at = parts.findLastIndex((part) => part.seq === seq);
  return at !== -1 && length <= (parts[at + 1]?.start ?? bytes.length);
}

function sizeOf({ bytes, parts }: KnownValue): number {
  return bytes.length + parts.length * PART_SIZE;
}
