/** A queue between code that pushes and one reader that waits. */
export class AsyncQueue<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #failure: { readonly thrown: unknown } | null = null;
  #ended = false;
  #hasLeft = false;
  #wake = () => {};
  #taken = () => {};

  /** Items that wait for the reader. */
  get size(): number {
    return this.#items.length;
  }

  push(...items: readonly T[]): void {
    this.#items.push(...items);
    this.#wake();
  }

  /** The reader gets what was pushed before, and then the error, if one is given. */
  end(failure: { readonly thrown: unknown } | null = null): void {
    this.#ended = true;
    this.#failure ??= failure;
    this.#wake();
  }

  /** The reader takes nothing more. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Resolves when the reader has taken everything, or has left. */
  async drained(): Promise<void> {
    while (this.#items.length > 0 && !this.#hasLeft)
      await new Promise<void>((resolve) => (this.#taken = resolve));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      while (true) {
        yield* this.#take();
        if (this.#items.length > 0) continue;
        if (this.#ended) break;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      if (this.#failure) throw this.#failure.thrown;
    } finally {
      this.#hasLeft = true;
      this.#take(); // nobody waits for a reader that has left
    }
  }

  #take(): T[] {
    const items = this.#items;
    this.#items = [];
    this.#taken();
    return items;
  }
}
