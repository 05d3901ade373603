/** One call at a time for each key, in the order of the calls. */
export class SerialCalls {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, call: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(call, call);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
