import { randomBytes } from 'node:crypto';
import type { Clock } from '../../core/clock.js';
import { LEASE_TTL_MS } from '../../core/limits.js';
import { LeaseState, leaseHeld } from '../lease-state.js';
import { keyOf } from '../name-key.js';
import type { Lease, LeaseOptions, LeaseOwner, Leases, Name } from '../ports.js';

export class MemoryLeases implements Leases {
  readonly #clock: Clock;
  readonly #held = new Map<
    string,
    { fence: number; owner: LeaseOwner; released: boolean; beatMs: number; ttlMs: number }
  >();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire(name: Name, options: LeaseOptions = {}): Promise<Lease> {
    const key = keyOf(name);
    const ttlMs = options.ttlMs ?? LEASE_TTL_MS;
    const before = this.#held.get(key);
    const age = this.#clock.nowMs() - (before?.beatMs ?? 0);
    if (before && !before.released && age <= before.ttlMs) {
      throw leaseHeld(name.join('/'), before.fence, before.owner, age);
    }
    const owner: LeaseOwner = {
      pid: process.pid,
      processStart: null,
      host: 'memory',
      nonce: randomBytes(8).toString('hex'),
    };
    const fence = (before?.fence ?? 0) + 1;
    this.#held.set(key, { fence, owner, released: false, beatMs: this.#clock.nowMs(), ttlMs });
    return this.#lease(key, name, fence, before !== undefined && !before.released, ttlMs);
  }

  #lease(key: string, name: Name, fence: number, takenOver: boolean, ttlMs: number): Lease {
    const state = new LeaseState();
    const check = async () => {
      state.throwUnlessHeld(name.join('/'), fence);
      if (this.#held.get(key)?.fence !== fence) throw state.markLost(name.join('/'), fence);
    };
    const renew = async () => {
      await check();
      this.#held.get(key)!.beatMs = this.#clock.nowMs();
    };
    const release = async () => {
      state.release();
      const held = this.#held.get(key);
      if (held?.fence === fence) held.released = true;
    };
    state.startHeartbeat(Math.max(50, ttlMs / 3), renew);
    return {
      fence,
      takenOver,
      unsafeFence: 0, // a fenced writer of this process cannot write: every append checks first
      get held() {
        return state.held;
      },
      lost: state.lost,
      check,
      renew,
      release,
    };
  }

  async inspect(name: Name): ReturnType<Leases['inspect']> {
    const held = this.#held.get(keyOf(name));
    if (!held || held.released) return null;
    return { fence: held.fence, owner: held.owner, alive: this.#clock.nowMs() - held.beatMs <= held.ttlMs };
  }
}
