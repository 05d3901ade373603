/** Wakes readers that wait for news of one stream, whichever process wrote it. */

/** How long changes by other processes are still followed after the last one stopped to wait: readers come again. */
const LINGER_MS = 5_000;

export class StreamNews {
  readonly #follow: () => Promise<() => Promise<void>>;
  readonly #waiting = new Set<() => void>();
  #following: Promise<() => Promise<void>> | null = null;
  #linger: NodeJS.Timeout | null = null;

  /** @param follow from then on, changes by other processes are noticed; returns what ends it */
  constructor(follow: () => Promise<() => Promise<void>>) {
    this.#follow = follow;
  }

  /** Something may be new. */
  tell(): void {
    for (const wake of this.#waiting) wake();
  }

  /**
   * Resolves once `isNews` is true, and at the latest after `ms` milliseconds or when the signal ends it. True: there is news.
   * @throws what following throws
   */
  async wait(isNews: () => boolean, { ms, signal }: { ms: number; signal: AbortSignal }): Promise<boolean> {
    if (isNews() || signal.aborted || ms <= 0) return isNews();
    let timer: NodeJS.Timeout | undefined;
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = () => {
        if (isNews()) resolve();
      };
      this.#waiting.add(end);
      timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    try {
      // What was written before it follows is seen when it begins.
      await Promise.race([ended, this.#begin().then(() => ended)]);
      return isNews();
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(end);
      if (this.#waiting.size === 0) this.#lingerOn();
    }
  }

  #begin(): Promise<unknown> {
    if (this.#linger) clearTimeout(this.#linger);
    this.#linger = null;
    if (!this.#following) {
      const following = this.#follow();
      this.#following = following;
      following.catch(() => (this.#following = null)); // reported to those who wait; the next one tries again
    }
    return this.#following;
  }

  #lingerOn(): void {
    this.#linger ??= setTimeout(() => {
      this.#linger = null;
      void this.#end().catch(() => {});
    }, LINGER_MS).unref();
  }

  async #end(): Promise<void> {
    const following = this.#following;
    this.#following = null;
    await (await following?.catch(() => null))?.();
  }

  /** Stops following the stream, and wakes all waiting readers. */
  async close(): Promise<void> {
    if (this.#linger) clearTimeout(this.#linger);
    this.#linger = null;
    this.tell();
    await this.#end();
  }
}
