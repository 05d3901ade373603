/** Serialised values of a thread's channels that were written or read last: what a new one begins with is looked for in them. */

/** From that byte on, and until the next part begins, a value is stored in that record. */
export interface ValuePart {
  readonly seq: number;
  readonly start: number;
}

export interface KnownValue {
  readonly channel: string;
  /** The record of the value. */
  readonly seq: number;
  /** The serializer's own. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** The records that are read for it: both numbers rise, and the first part begins at 0. */
  readonly parts: readonly ValuePart[];
}

/** Shorter ones are not worth a delta, in bytes. */
export const BASE_MIN = 512;
/** Of all of them in one thread, in bytes. */
const SIZE_MAX = 2 * 1024 * 1024;
/** One larger value is kept, alone. Otherwise each put of a long thread would read it again. In bytes. */
const VALUE_MAX = 16 * 1024 * 1024;
const PART_SIZE = 40;

export class KnownValues {
  /** The one that was used last comes last. */
  #values: KnownValue[] = [];
  #size = 0;

  /** The value that a record has of a channel; or, with a length, one that begins with so many of its first bytes. */
  find(channel: string, seq: number, length = Number.POSITIVE_INFINITY): KnownValue | undefined {
    const found = this.#values.findLast((known) => known.channel === channel && reaches(known, seq, length));
    if (found) this.#values = [...this.#values.filter((known) => known !== found), found];
    return found;
  }

  add(value: KnownValue): void {
    if (value.bytes.length < BASE_MIN || value.bytes.length > VALUE_MAX) return;
    if (this.find(value.channel, value.seq)) return; // two who read it at once
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
