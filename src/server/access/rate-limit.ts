/** A token bucket per address: a number of requests per second, and bursts of twice as many. */

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

  /** False above the limit. */
  take(address: string): boolean {
    const nowMs = this.#nowMs();
    const burst = this.#perSecond * 2;
    const bucket = this.#buckets.get(address) ?? { left: burst, atMs: nowMs };
    bucket.left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) / 1000) * this.#perSecond);
    bucket.atMs = nowMs;
    // The least recently seen address comes first and is dropped first.
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    if (this.#buckets.size > ADDRESSES_MAX) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  }
}
