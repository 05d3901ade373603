/** Leases as rows. A takeover fences off, in the same transaction, everything that was written under the lease. */
import { type Clock, sleepOn, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import { LEASE_TTL_MS } from '../../core/limits.js';
import { HeartbeatWatch } from '../heartbeat-watch.js';
import { acquireInLine, waitMsOf, wakeLine } from '../lease-line.js';
import { LeaseState, leaseHeld } from '../lease-state.js';
import { keyOf, nameOf, rangeBelow } from '../name-key.js';
import type { Lease, LeaseOptions, LeaseOwner, Leases, Name } from '../ports.js';
import { isSelf, type ProcessIdentity } from '../process-identity.js';
import type { LeaseRef, LeaseRow, SqlEngine } from './sql-engine.js';

export interface SqlLeasesOptions {
  readonly clock: Clock;
  readonly identity: ProcessIdentity;
  /** Place of the store: all that wait for one lease in this process form one line, however often the store was opened. */
  readonly place: () => string;
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
    if (waitMsOf(options) === 0) return this.#acquire(name, key, options);
    return acquireInLine(this.#lineKey(key), name, options, () => this.#acquire(name, key, options));
  }

  #lineKey(key: string): string {
    return `${this.#options.place()} ${key}`;
  }

  async #acquire(name: Name, key: string, options: LeaseOptions): Promise<Lease> {
    const { ttlMs = LEASE_TTL_MS, force = false, waitMs = 0 } = options;
    const { identity, clock } = this.#options;
    for (;;) {
      const { nowMs } = this;
      const seen = await this.#engine.run('readLease', { key, nowMs });
      if (!force && seen && !seen.released && this.#isAlive(key, seen)) {
        const owner = ownerOf(seen);
        const held = { fence: seen.fence, owner, ageMs: seen.ageMs, isSelf: isSelf(identity, owner) };
        if (waitMs > 0 || !isFromFuture(seen)) throw leaseHeld(name, held);
        await sleepOn(clock, Math.min(1_000, seen.ttlMs / 10)); // only watching shows whether it still beats
        continue;
      }
      const owner = JSON.stringify(identity.owner());
      const taken = await this.#engine.run('takeLease', { key, seen, owner, ttlMs, nowMs });
      if (!taken) continue; // another contender was first
      const takenOver = seen !== null && !seen.released;
      const onRelease = () => wakeLine(this.#lineKey(key));
      const fence = (seen?.fence ?? 0) + 1;
      return new SqlLease(this.#engine, this, {
        key,
        label: name.join('/'),
        fence,
        takenOver,
        ttlMs,
        onRelease,
      });
    }
  }

  /**
   * All users of the store share one clock, so an old heartbeat is old. If that clock was set back, heartbeats come
   * from the future; then only this process's own observation counts.
   */
  #isAlive(key: string, row: LeaseRow): boolean {
    const state = this.#options.identity.state(ownerOf(row));
    if (state === 'gone' || state === 'rebooted' || row.ageMs > row.ttlMs) return false;
    const mark = `${row.fence}/${row.beatMs}`;
    return HeartbeatWatch.on(this.#options.clock).unchangedMs(this.#lineKey(key), mark) < row.ttlMs;
  }

  async inspect(name: Name): ReturnType<Leases['inspect']> {
    const key = keyOf(name);
    const row = await this.#engine.run('readLease', { key, nowMs: this.nowMs });
    if (!row || row.released) return null;
    return { fence: row.fence, owner: ownerOf(row), alive: this.#isAlive(key, row) };
  }

  async list(prefix: Name): Promise<Name[]> {
    return (await this.#engine.run('listLeases', rangeBelow(prefix))).map(nameOf);
  }
}

interface HeldLease {
  readonly key: string;
  readonly label: string;
  readonly fence: number;
  readonly takenOver: boolean;
  readonly ttlMs: number;
  readonly onRelease: () => void;
}

function isFromFuture({ ageMs, ttlMs }: LeaseRow): boolean {
  return ageMs < -ttlMs;
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
  readonly #onRelease: () => void;
  readonly #state = new LeaseState();
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(engine: SqlEngine, leases: SqlLeases, held: HeldLease) {
    this.#engine = engine;
    this.#leases = leases;
    this.#label = held.label;
    this.#onRelease = held.onRelease;
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

  /** An append checks the lease, too. @param startedMs when it began, as `performance.now()` */
  noteHeld(startedMs: number): void {
    this.#checkedAt = Math.max(this.#checkedAt, startedMs);
  }

  async renew(): Promise<void> {
    this.throwUnlessHeld();
    const { nowMs } = this.#leases;
    if (!(await this.#engine.run('beatLease', { ...this.ref, nowMs }))) throw this.markLost();
    this.#checkedAt = performance.now();
  }

  async release(): Promise<void> {
    this.#state.release();
    if (this.lost.aborted) return;
    await this.#engine.run('releaseLease', this.ref);
    this.#onRelease();
  }

  /** @throws LEASE_LOST if it is known that the lease is no longer held */
  throwUnlessHeld(): void {
    this.#state.throwUnlessHeld(this.#label, this.fence);
  }

  /** Called after a transaction found another owner. Returns the error to throw. */
  markLost(): RekindleError {
    return this.#state.markLost(this.#label, this.fence);
  }
}

/** @throws INVALID_ARGUMENT for a lease of another store */
export function asSqlLease(lease: Lease): SqlLease {
  if (lease instanceof SqlLease) return lease;
  throw new RekindleError('INVALID_ARGUMENT', 'The lease belongs to another store.', {
    details: { argument: 'lease' },
  });
}

function ownerOf(row: LeaseRow): LeaseOwner {
  return JSON.parse(row.owner) as LeaseOwner;
}
