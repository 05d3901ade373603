/**
 * A stable 53-bit hash, to recognise a disk state. Two multiplicative lanes with a final mix, as in cyrb53. Not secure
 * against attackers. Among 2 million states, the chance that any two collide is 1 in 4,000.
 */
export class StateHash {
  #low = 0xdeadbeef;
  #high = 0x41c6ce57;

  word(word: number): this {
    this.#low = Math.imul(this.#low ^ word, 2654435761);
    this.#high = Math.imul(this.#high ^ word, 1597334677);
    this.#low = (this.#low << 5) | (this.#low >>> 27);
    this.#high = (this.#high << 7) | (this.#high >>> 25);
    return this;
  }

  /** Adds another hash, or any safe integer. */
  number(value: number): this {
    return this.word(value >>> 0).word(Math.floor(value / 4_294_967_296));
  }

  bytes(bytes: Uint8Array): this {
    for (let i = 0; i < bytes.length; i++) this.word(bytes[i]!);
    return this.word(bytes.length);
  }

  text(text: string): this {
    for (let i = 0; i < text.length; i++) this.word(text.charCodeAt(i));
    return this.word(text.length);
  }

  value(): number {
    const low = this.#low;
    const high = this.#high;
    const a = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    const b = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return 4_294_967_296 * (0x1fffff & b) + (a >>> 0);
  }
}
