/** A growing, compact list of numbers: an index over millions of records fits into memory, which objects would not. */

type NumberArray = Uint8Array | Int32Array | Float64Array;

/** Blocks are never moved, so growing needs no second copy. */
const BLOCK_BITS = 14;
const BLOCK_SIZE = 1 << BLOCK_BITS;
const BLOCK_MASK = BLOCK_SIZE - 1;

export class NumberColumn {
  readonly #make: () => NumberArray;
  readonly #blocks: NumberArray[] = [];
  #length = 0;

  constructor(make: () => NumberArray) {
    this.#make = make;
  }

  static bytes(): NumberColumn {
    return new NumberColumn(() => new Uint8Array(BLOCK_SIZE));
  }

  static integers(): NumberColumn {
    return new NumberColumn(() => new Int32Array(BLOCK_SIZE));
  }

  /** For offsets beyond 2 GB. */
  static offsets(): NumberColumn {
    return new NumberColumn(() => new Float64Array(BLOCK_SIZE));
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if ((this.#length & BLOCK_MASK) === 0) this.#blocks.push(this.#make());
    this.#length += 1;
    this.set(this.#length - 1, value);
  }

  /** -1 if there is none. */
  at(position: number): number {
    if (position < 0 || position >= this.#length) return -1;
    return this.#blocks[position >> BLOCK_BITS]![position & BLOCK_MASK]!;
  }

  set(position: number, value: number): void {
    if (position < 0 || position >= this.#length) return;
    this.#blocks[position >> BLOCK_BITS]![position & BLOCK_MASK] = value;
  }
}
