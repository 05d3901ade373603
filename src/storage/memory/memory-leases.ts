import { randomBytes } from 'node:crypto';
import { type Clock, monotonicMs } from '../../core/clock.js';
import { LEASE_TTL_MS } from '../../core/limits.js';
import { acquireInLine, waitMsOf, wakeLine } from '../lease-line.js';
import { LeaseState, leaseHeld } from '../lease-state.js';
import { keyOf, nameOf, rangeBelow } from '../name-key.js';
import type { Lease, LeaseOptions, LeaseOwner, Leases, Name } from '../ports.js';

export class MemoryLeases implements Leases {
  readonly #clock: Clock;
  readonly #id = randomBytes(8).toString('hex');
  readonly #held = new Map<
    string,
    { fence: number; owner: LeaseOwner; released: boolean; beatMs: number; ttlMs: number }
  >();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire(name: Name, options: LeaseOptions = {}): Promise<Lease> {
    if (waitMsOf(options) === 0) return this.#acquire(name, options);
    return acquireInLine(this.#lineKey(name), name, options, () => this.#acquire(name, options));
  }

  #lineKey(name: Name): string {
    return `memory ${this.#id} ${keyOf(name)}`;
  }

  async #acquire(name: Name, { ttlMs = LEASE_TTL_MS, force = false }: LeaseOptions): Promise<Lease> {
    const key = keyOf(name);
    const before = this.#held.get(key);
    const ageMs = monotonicMs(this.#clock) - (before?.beatMs ?? 0);
    if (!force && before && !before.released && ageMs <= before.ttlMs) {
      throw leaseHeld(name, { fence: before.fence, owner: before.owner, ageMs, isSelf: true });
    }
    const owner: LeaseOwner = {
      pid: process.pid,
      processStart: null,
      host: 'memory',
      nonce: randomBytes(8).toString('hex'),
    };
    const fence = (before?.fence ?? 0) + 1;
    this.#held.set(key, { fence, owner, released: false, beatMs: monotonicMs(this.#clock), ttlMs });
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
      this.#held.get(key)!.beatMs = monotonicMs(this.#clock);
    };
    const release = async () => {
      state.release();
      const held = this.#held.get(key);
      if (held?.fence !== fence) return;
      held.released = true;
      wakeLine(this.#lineKey(name));
    };
    state.startHeartbeat(Math.max(50, ttlMs / 3), renew);
    return {
      fence,
      takenOver,
      unsafeFence: 0, // a fenced writer in this process cannot write: every append checks first
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
    return {
      fence: held.fence,
      owner: held.owner,
      alive: monotonicMs(this.#clock) - held.beatMs <= held.ttlMs,
    };
  }

  async list(prefix: Name): Promise<Name[]> {
    const { start } = rangeBelow(prefix);
    const keys = [...this.#held.keys()].filter((key) => `${key}/`.startsWith(start));
    return keys.sort().map(nameOf);
  }
}
