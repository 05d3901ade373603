/** A lease that a fault plan can take away; see `faultyStorage`. */
import type { RekindleError } from '../../core/errors.js';
import { LeaseState } from '../lease-state.js';
import type { Lease, Name } from '../ports.js';
import type { FaultyCalls } from './faulty-calls.js';

export class FaultyLease implements Lease {
  readonly fence: number;
  readonly takenOver: boolean;
  readonly unsafeFence: number;
  readonly lost: AbortSignal;
  /** The backend's own lease. Its heartbeats bypass the plan. */
  readonly inner: Lease;
  readonly #calls: FaultyCalls;
  readonly #name: Name;
  /** Records only losses by the plan. */
  readonly #state = new LeaseState();

  constructor(inner: Lease, calls: FaultyCalls, name: Name) {
    this.inner = inner;
    this.#calls = calls;
    this.#name = name;
    this.fence = inner.fence;
    this.takenOver = inner.takenOver;
    this.unsafeFence = inner.unsafeFence;
    this.lost = AbortSignal.any([inner.lost, this.#state.lost]);
  }

  get held(): boolean {
    return this.#state.held && this.inner.held;
  }

  check(options?: { readonly maxAgeMs?: number }): Promise<void> {
    return this.#run('lease.check', () => this.inner.check(options));
  }

  renew(): Promise<void> {
    return this.#run('lease.renew', () => this.inner.renew());
  }

  #run(operation: 'lease.check' | 'lease.renew', carryOut: () => Promise<void>): Promise<void> {
    const unlessLost = () => {
      this.#state.lost.throwIfAborted();
      return carryOut();
    };
    return this.#calls.run(operation, this.#name, unlessLost, { loseLease: () => this.lose() });
  }

  release(): Promise<void> {
    return this.#calls.run('lease.release', this.#name, () => this.inner.release(), { ends: true });
  }

  /** From now on it is lost, and free for the next owner. Returns the error that reports it. */
  async lose(): Promise<RekindleError> {
    const error = this.#state.markLost(this.#name.join('/'), this.fence);
    await this.inner.release().catch(() => {}); // it expires then
    return error;
  }
}
