/** A held lease: a file that only one contender can have created. See `file-leases.ts`. */
import path from 'node:path';
import type { Clock } from '../../core/clock.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import { LeaseState } from '../lease-state.js';
import type { Lease } from '../ports.js';
import { leaseName, releasedName } from './lease-files.js';
import { labelled } from './storage-errors.js';

export interface HeldLease {
  readonly folder: string;
  readonly label: string;
  /** The name of the file that only this contender uses. */
  readonly own: string;
  readonly fence: number;
  readonly takenOver: boolean;
  readonly unsafeFence: number;
  readonly ttlMs: number;
  /** Called when the owner releases the lease. */
  readonly onRelease: () => void;
}

export class FileLease implements Lease {
  readonly fence: number;
  readonly takenOver: boolean;
  readonly unsafeFence: number;
  readonly #fs: FileSystem;
  readonly #clock: Clock;
  readonly #held: HeldLease;
  readonly #state = new LeaseState();
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(fs: FileSystem, clock: Clock, held: HeldLease) {
    this.#fs = fs;
    this.#clock = clock;
    this.#held = held;
    this.fence = held.fence;
    this.takenOver = held.takenOver;
    this.unsafeFence = held.unsafeFence;
    this.#state.startHeartbeat(Math.max(50, held.ttlMs / 3), () => this.renew());
  }

  get held(): boolean {
    return this.#state.held;
  }

  get lost(): AbortSignal {
    return this.#state.lost;
  }

  async check(options: { readonly maxAgeMs?: number } = {}): Promise<void> {
    const fresh = options.maxAgeMs !== undefined && performance.now() - this.#checkedAt <= options.maxAgeMs;
    if (fresh) this.#state.throwUnlessHeld(this.#held.label, this.fence);
    else await labelled(`check the lease on ${this.#held.label}`, () => this.#check());
  }

  async #check(): Promise<void> {
    const started = performance.now();
    this.#state.throwUnlessHeld(this.#held.label, this.fence);
    const own = await this.#fs.stat(path.join(this.#held.folder, this.#held.own));
    if (!own) throw this.#state.markLost(this.#held.label, this.fence);
    this.#checkedAt = started;
  }

  renew(): Promise<void> {
    return labelled(`renew the lease on ${this.#held.label}`, async () => {
      await this.#check();
      await this.#fs.touch(path.join(this.#held.folder, leaseName(this.fence)), this.#clock.nowMs());
    });
  }

  release(): Promise<void> {
    this.#state.release();
    if (this.lost.aborted) return Promise.resolve();
    return labelled(`release the lease on ${this.#held.label}`, async () => {
      await markReleased(this.#fs, this.#held.folder, this.fence);
      this.#held.onRelease();
    });
  }
}

async function markReleased(fs: FileSystem, folder: string, fence: number): Promise<void> {
  try {
    await (await fs.open(path.join(folder, releasedName(fence)), 'create')).close();
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EEXIST' && errnoOf(thrown) !== 'ENOENT') throw thrown;
  }
}
