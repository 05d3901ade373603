/** So many requests in a second for each address, and bursts of twice as many: a token bucket. */

interface Bucket {
  left: number;
  atMs: number;
}

const ADDRESSES_MAX = 10_000;

export class RateLimit {
  readonly #perSecond: number;
  readonly #nowMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, nowMs: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#nowMs = nowMs;
  }

  /** False when it is too much. */
  take(address: string): boolean {
    const nowMs = this.#nowMs();
    const burst = this.#perSecond * 2;
    const bucket = this.#buckets.get(address) ?? { left: burst, atMs: nowMs };
    bucket.left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) / 1000) * this.#perSecond);
    bucket.atMs = nowMs;
    // The least recently seen stands first, and goes first.
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    if (this.#buckets.size > ADDRESSES_MAX) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  }
}
