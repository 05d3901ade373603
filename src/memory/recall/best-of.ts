/** Keeps the best of many values: a heap with the worst of them on top. */
export interface Scored {
  readonly index: number;
  readonly score: number;
}

export class BestOf {
  readonly #max: number;
  readonly #heap: Scored[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** False for a value that `add` would drop. */
  wants(index: number, score: number): boolean {
    if (this.#heap.length < this.#max) return true;
    return this.#max > 0 && isBelow(this.#heap[0]!, index, score);
  }

  add(index: number, score: number): void {
    const heap = this.#heap;
    if (heap.length < this.#max) {
      heap.push({ index, score });
      this.#up(heap.length - 1);
    } else if (this.wants(index, score)) {
      heap[0] = { index, score };
      this.#down();
    }
  }

  /** Best first; among equals, the newer first. */
  sorted(): Scored[] {
    return [...this.#heap].sort((a, b) => b.score - a.score || b.index - a.index);
  }

  #up(from: number): void {
    const heap = this.#heap;
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >>> 1;
      if (!isWorse(heap[at]!, heap[parent]!)) return;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  }

  #down(): void {
    const heap = this.#heap;
    for (let at = 0; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && isWorse(heap[child]!, heap[worst]!)) worst = child;
      if (worst === at) return;
      [heap[at], heap[worst]] = [heap[worst]!, heap[at]!];
      at = worst;
    }
  }
}

function isWorse(a: Scored, b: Scored): boolean {
  return isBelow(a, b.index, b.score);
}

/** Most values of a large index are compared only, so no object is made for them. */
function isBelow(a: Scored, index: number, score: number): boolean {
  return a.score < score || (a.score === score && a.index < index);
}
