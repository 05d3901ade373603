/**
 * Numbers ids in the order of their first mention. Only a digest of 128 bits of each id is kept, so that an index over
 * millions of ids takes a quarter of the memory that the ids would take.
 */
import { NumberColumn } from './number-column.js';

const FIRST_SLOTS = 1 << 12;
const WORDS = 4;
/** Arbitrary odd numbers, one for each word. */
const MULTIPLIERS = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f] as const;
const MIX = 0x2c1b3c6d;

export class IdTable {
  /** Number of the id in each slot, plus 1; 0 marks a free slot. */
  #slots = new Int32Array(FIRST_SLOTS);
  readonly #digests = NumberColumn.integers();

  get size(): number {
    return this.#digests.length / WORDS;
  }

  /** -1 for the empty text, which is not an id. */
  numberOf(id: string): number {
    if (id === '') return -1;
    const digest = digestOf(id);
    const slot = this.#slotOf(digest);
    const known = this.#slots[slot]! - 1;
    if (known >= 0) return known;
    for (const word of digest) this.#digests.push(word);
    this.#slots[slot] = this.size;
    if (this.size * 2 > this.#slots.length) this.#grow();
    return this.size - 1;
  }

  /** -1 for an unknown id. */
  find(id: string): number {
    return id === '' ? -1 : this.#slots[this.#slotOf(digestOf(id))]! - 1;
  }

  /** The slot of the digest, or the slot where it belongs. */
  #slotOf(digest: Digest): number {
    const mask = this.#slots.length - 1;
    let slot = digest[0] & mask;
    while (this.#slots[slot] !== 0 && !this.#isAt(this.#slots[slot]! - 1, digest)) slot = (slot + 1) & mask;
    return slot;
  }

  #isAt(number: number, digest: Digest): boolean {
    for (let word = 0; word < WORDS; word += 1) {
      if (this.#digests.at(number * WORDS + word) !== digest[word]) return false;
    }
    return true;
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let number = 0; number < this.size; number += 1) {
      let slot = this.#digests.at(number * WORDS) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }
}

type Digest = readonly [number, number, number, number];

function digestOf(id: string): Digest {
  let [a, b, c, d] = MULTIPLIERS.map((multiplier) => multiplier ^ id.length) as [
    number,
    number,
    number,
    number,
  ];
  for (let at = 0; at < id.length; at += 1) {
    const unit = id.charCodeAt(at);
    a = Math.imul(a ^ unit, MULTIPLIERS[0]) ^ (b >>> 15);
    b = Math.imul(b ^ unit, MULTIPLIERS[1]) ^ (c >>> 13);
    c = Math.imul(c ^ unit, MULTIPLIERS[2]) ^ (d >>> 16);
    d = Math.imul(d ^ unit, MULTIPLIERS[3]) ^ (a >>> 14);
  }
  return [finish(a ^ b ^ c ^ d), finish(b), finish(c), finish(d)];
}

function finish(word: number): number {
  const mixed = Math.imul(word ^ (word >>> 16), MIX);
  return (mixed ^ (mixed >>> 15)) | 0;
}
