/**
 * Turns for writing: several processes change one thing, and each holds its lease as briefly as possible.
 *
 * A process keeps the lease for a moment after its last work, so that a burst of changes pays for it once. A process
 * with continuous work releases it from time to time, so that no other starves. Work of one process runs in the order
 * of its calls.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { isRekindleError, RekindleError } from '../core/errors.js';
import type { Lease, Leases, Name } from './ports.js';

export interface SharedLeaseOptions {
  /** Milliseconds to wait while others write. Default 15,000. */
  readonly waitMs?: number;
  /** Called before the lease is released, and when it is lost: what was opened under it must be closed. */
  readonly onEnd?: () => Promise<void>;
}

/** A hung writer can be taken over after this many milliseconds. */
const TTL_MS = 5_000;
const WAIT_MS = 15_000;
/** How long a lease is kept after the last work, and at most; longer if no other process took it since the last time. */
const LINGER_MS = 25;
const HOLD_MAX_MS = 200;
const LINGER_ALONE_MS = 150;
const HOLD_MAX_ALONE_MS = 1_000;
/** Longer than a waiting process sleeps between two tries. */
const PAUSE_MS = 30;
const TRY_AGAIN_MS = 12;

export class SharedLease {
  readonly #leases: Leases;
  readonly #name: Name;
  readonly #options: SharedLeaseOptions;
  readonly #queue = new PQueue({ concurrency: 1 });
  #lease: Lease | null = null;
  #since = 0;
  /** Fence of the previous lease. */
  #lastFence = 0;
  /** No other process held it between our last two leases. */
  #alone = false;
  #linger: NodeJS.Timeout | null = null;
  #closed = false;
  /** Increases with each started work. */
  #begun = 0;

  constructor(leases: Leases, name: Name, options: SharedLeaseOptions = {}) {
    this.#leases = leases;
    this.#name = name;
    this.#options = options;
  }

  /** True if no other process can have written so far. Asks the store: a process does not know that it was suspended. */
  async holds(): Promise<boolean> {
    const lease = this.#lease;
    if (!lease?.held) return false;
    return lease.check().then(
      () => true,
      () => false,
    );
  }

  /**
   * Runs writing work when it is this process's turn.
   * @throws LEASE_HELD if the turn did not come in time, and what the work throws
   */
  async run<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
    if (this.#closed) throw closed(this.#name);
    const gaveUp = this.#queue.pending > 0 ? this.#watchQueue() : null;
    const running = this.#queue.add(async () => {
      if (gaveUp?.end()) {
        this.#lingerOn();
        return undefined as T; // nothing waits for it any more
      }
      this.#begun += 1;
      return this.#run(work);
    });
    return gaveUp ? Promise.race([running, gaveUp.promise]) : running;
  }

  async #run<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
    const lease = await this.#acquire();
    try {
      return await work(lease);
    } catch (thrown) {
      if (isRekindleError(thrown, 'LEASE_LOST')) await this.#end();
      throw thrown;
    } finally {
      this.#lingerOn();
    }
  }

  /** Gives up if one work blocks the others for too long: it may be waiting for work that was started inside it. */
  #watchQueue(): { readonly promise: Promise<never>; end(): boolean } {
    let seen = this.#begun;
    let timer: NodeJS.Timeout | undefined;
    let gone = false;
    const promise = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        if (seen !== this.#begun) seen = this.#begun;
        else {
          gone = true;
          clearInterval(timer);
          reject(heldUp(this.#name));
        }
      }, this.#waitMs);
    });
    const end = () => {
      clearInterval(timer);
      return gone;
    };
    return { promise, end };
  }

  get #waitMs(): number {
    return this.#options.waitMs ?? WAIT_MS;
  }

  /** Waits for running work, then releases the lease. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue.onIdle();
    await this.#queue.add(() => this.#end());
  }

  async #acquire(): Promise<Lease> {
    if (this.#linger) clearTimeout(this.#linger);
    this.#linger = null;
    if (this.#lease && performance.now() - this.#since > (this.#alone ? HOLD_MAX_ALONE_MS : HOLD_MAX_MS)) {
      await this.#end();
      await sleep(PAUSE_MS);
    }
    if (this.#lease?.held) return this.#lease;
    await this.#end();
    this.#lease = await this.#waitForTurn();
    this.#since = performance.now();
    this.#alone = this.#lastFence > 0 && this.#lease.fence === this.#lastFence + 1;
    this.#lastFence = this.#lease.fence;
    return this.#lease;
  }

  async #waitForTurn(): Promise<Lease> {
    const deadline = performance.now() + this.#waitMs;
    for (;;) {
      try {
        return await this.#leases.acquire(this.#name, { ttlMs: TTL_MS });
      } catch (thrown) {
        if (!isRekindleError(thrown, 'LEASE_HELD') || performance.now() >= deadline) throw thrown;
      }
      await sleep(TRY_AGAIN_MS * (0.5 + Math.random()));
    }
  }

  #lingerOn(): void {
    if (!this.#lease || this.#linger || this.#queue.size > 0) return;
    this.#linger = setTimeout(
      () => {
        this.#linger = null;
        void this.#queue.add(async () => {
          if (this.#queue.size === 0) await this.#end();
        });
      },
      this.#alone ? LINGER_ALONE_MS : LINGER_MS,
    );
  }

  async #end(): Promise<void> {
    const lease = this.#lease;
    this.#lease = null;
    if (this.#linger) clearTimeout(this.#linger);
    this.#linger = null;
    if (!lease) return;
    // Acknowledged data was synced, so a failed close loses nothing. A lease that is left expires.
    await this.#options.onEnd?.().catch(() => {});
    await lease.release().catch(() => {});
  }
}

function closed(name: Name): RekindleError {
  return new RekindleError('JOURNAL_CLOSED', `${name.join('/')} was closed.`, {
    details: { name: [...name] },
  });
}

function heldUp(name: Name): RekindleError {
  return new RekindleError(
    'LEASE_HELD',
    `Another change of ${name.join('/')} by this process did not finish. A change must not start another change of the same data and wait for it.`,
    { details: { name: [...name] } },
  );
}
