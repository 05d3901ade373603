/** A set of 53-bit hashes above 0 in one flat table: millions of them cost 16 bytes or so each. */
export class SeenStates {
  #table = new Float64Array(1 << 16);
  #size = 0;

  /** Distinct states so far. */
  get size(): number {
    return this.#size;
  }

  /** True when it is new. */
  add(key: number): boolean {
    if (this.#size * 2 > this.#table.length) this.#grow();
    const added = insert(this.#table, key + 1);
    if (added) this.#size++;
    return added;
  }

  #grow(): void {
    const larger = new Float64Array(this.#table.length * 2);
    for (const key of this.#table) if (key !== 0) insert(larger, key);
    this.#table = larger;
  }
}

function insert(table: Float64Array, key: number): boolean {
  const mask = table.length - 1;
  for (let slot = (key % 4_294_967_291) & mask; ; slot = (slot + 1) & mask) {
    if (table[slot] === key) return false;
    if (table[slot] !== 0) continue;
    table[slot] = key;
    return true;
  }
}
