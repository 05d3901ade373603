/** Leases as rows. Who takes one over fences off, in the same transaction, everything that was written under it. */
import { type Clock, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import { LEASE_TTL_MS } from '../../core/limits.js';
import { LeaseState, leaseHeld } from '../lease-state.js';
import { keyOf } from '../name-key.js';
import type { Lease, LeaseOptions, LeaseOwner, Leases, Name } from '../ports.js';
import type { ProcessIdentity } from '../process-identity.js';
import type { LeaseRef, LeaseRow, SqlEngine } from './sql-engine.js';

export interface SqlLeasesOptions {
  readonly clock: Clock;
  readonly identity: ProcessIdentity;
}

export class SqlLeases implements Leases {
  readonly #engine: SqlEngine;
  readonly #options: SqlLeasesOptions;

  constructor(engine: SqlEngine, options: SqlLeasesOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** See `SqlOperations`. */
  get nowMs(): number | null {
    const { clock } = this.#options;
    return clock === systemClock ? null : clock.nowMs();
  }

  async acquire(name: Name, options: LeaseOptions = {}): Promise<Lease> {
    const key = keyOf(name);
    const ttlMs = options.ttlMs ?? LEASE_TTL_MS;
    for (;;) {
      const { nowMs } = this;
      const seen = await this.#engine.run('readLease', { key, nowMs });
      if (seen && !seen.released && this.#isAlive(seen)) {
        throw leaseHeld(name.join('/'), seen.fence, ownerOf(seen), seen.ageMs);
      }
      const owner = JSON.stringify(this.#options.identity.owner());
      const taken = await this.#engine.run('takeLease', { key, seen, owner, ttlMs, nowMs });
      if (!taken) continue; // another contender came first
      const takenOver = seen !== null && !seen.released;
      const held = { key, label: name.join('/'), fence: (seen?.fence ?? 0) + 1, takenOver, ttlMs };
      return new SqlLease(this.#engine, this, held);
    }
  }

  #isAlive(row: LeaseRow): boolean {
    return row.ageMs <= row.ttlMs && this.#options.identity.state(ownerOf(row)) !== 'gone';
  }

  async inspect(name: Name): ReturnType<Leases['inspect']> {
    const row = await this.#engine.run('readLease', { key: keyOf(name), nowMs: this.nowMs });
    if (!row || row.released) return null;
    return { fence: row.fence, owner: ownerOf(row), alive: this.#isAlive(row) };
  }
}

interface HeldLease {
  readonly key: string;
  readonly label: string;
  readonly fence: number;
  readonly takenOver: boolean;
  readonly ttlMs: number;
}

export class SqlLease implements Lease {
  readonly fence: number;
  readonly takenOver: boolean;
  /** A fenced writer cannot write: every transaction checks. */
  readonly unsafeFence = 0;
  readonly ref: LeaseRef;
  readonly #engine: SqlEngine;
  readonly #leases: SqlLeases;
  readonly #label: string;
  readonly #state = new LeaseState();
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(engine: SqlEngine, leases: SqlLeases, held: HeldLease) {
    this.#engine = engine;
    this.#leases = leases;
    this.#label = held.label;
    this.fence = held.fence;
    this.takenOver = held.takenOver;
    this.ref = { key: held.key, fence: held.fence };
    this.#state.startHeartbeat(Math.max(50, held.ttlMs / 3), () => this.renew());
  }

  get held(): boolean {
    return this.#state.held;
  }

  get lost(): AbortSignal {
    return this.#state.lost;
  }

  async check(options: { readonly maxAgeMs?: number } = {}): Promise<void> {
    this.throwUnlessHeld();
    const started = performance.now();
    if (options.maxAgeMs !== undefined && started - this.#checkedAt <= options.maxAgeMs) return;
    if (!(await this.#engine.run('holdsLease', this.ref))) throw this.markLost();
    this.#checkedAt = started;
  }

  async renew(): Promise<void> {
    this.throwUnlessHeld();
    const { nowMs } = this.#leases;
    if (!(await this.#engine.run('beatLease', { ...this.ref, nowMs }))) throw this.markLost();
    this.#checkedAt = performance.now();
  }

  async release(): Promise<void> {
    this.#state.release();
    if (!this.lost.aborted) await this.#engine.run('releaseLease', this.ref);
  }

  /** @throws LEASE_LOST when it is known that the lease is held no more */
  throwUnlessHeld(): void {
    this.#state.throwUnlessHeld(this.#label, this.fence);
  }

  /** After a transaction met another owner. Gives the error to throw. */
  markLost(): RekindleError {
    return this.#state.markLost(this.#label, this.fence);
  }
}

/** @throws INVALID_ARGUMENT for a lease of another store */
export function asSqlLease(lease: Lease): SqlLease {
  if (lease instanceof SqlLease) return lease;
  throw new RekindleError('INVALID_ARGUMENT', 'The lease is of another store.', {
    details: { argument: 'lease' },
  });
}

function ownerOf(row: LeaseRow): LeaseOwner {
  return JSON.parse(row.owner) as LeaseOwner;
}
