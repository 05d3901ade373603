/** A queue between code that pushes and one reader that waits. */
export class AsyncQueue<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #failure: { readonly thrown: unknown } | null = null;
  #ended = false;
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

  /** Resolves when the reader has taken everything. */
  async drained(): Promise<void> {
    while (this.#items.length > 0) await new Promise<void>((resolve) => (this.#taken = resolve));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    while (true) {
      const items = this.#items;
      this.#items = [];
      this.#taken();
      yield* items;
      if (this.#items.length > 0) continue;
      if (this.#ended) break;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#failure) throw this.#failure.thrown;
  }
}
