/** One call at a time for each key, in the order of the calls. A call for a free key begins at once. */
export class SerialCalls {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Resolves or rejects as the call does. A failed call does not stop those that wait. */
  async run<T>(key: string, call: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = before ? before.then(call, call) : call();
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }

  /** Whether a call for this key runs or waits. */
  isBusy(key: string): boolean {
    return this.#last.has(key);
  }
}
