/** What every lease shares: the state "held", "released" or "lost", the heartbeat, and the error that reports a loss. */
import { RekindleError } from '../core/errors.js';
import type { LeaseOwner, Name } from './ports.js';
import { withoutTenants } from './tenants/tenant-names.js';

export class LeaseState {
  readonly #lost = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #released = false;

  get held(): boolean {
    return !this.#released && !this.#lost.signal.aborted;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Beats until stopped. A failed beat throws nothing: the holder's next check reports it. Does not keep the process alive. */
  startHeartbeat(everyMs: number, beat: () => Promise<void>): void {
    this.#timer = setInterval(() => void beat().catch(() => {}), everyMs);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** The owner releases it: it may no longer write, and no loss is reported. */
  release(): void {
    this.stop();
    this.#released = true;
  }

  /** @throws LEASE_LOST if it is known that the lease is no longer held */
  throwUnlessHeld(name: string, fence: number): void {
    this.lost.throwIfAborted();
    if (!this.#released) return;
    throw new RekindleError('LEASE_LOST', `The lease on ${name} (fence ${fence}) was released.`, {
      details: { name, fence },
    });
  }

  /** Marks the lease as lost and returns the error to throw. */
  markLost(name: string, fence: number): RekindleError {
    this.stop();
    if (!this.#lost.signal.aborted) {
      const error = new RekindleError('LEASE_LOST', `The lease on ${name} (fence ${fence}) was taken over.`, {
        details: { name, fence },
      });
      this.#lost.abort(error);
    }
    return this.#lost.signal.reason as RekindleError;
  }
}

export interface Holder {
  readonly fence: number;
  readonly owner: LeaseOwner;
  /** Age of its last heartbeat, by the available clocks. */
  readonly ageMs: number;
  /** True if the owner is this process. */
  readonly isSelf: boolean;
}

export function leaseHeld(name: Name, { fence, owner, ageMs, isSelf }: Holder): RekindleError {
  const own = withoutTenants(name);
  const subject = own.length === 2 && own[0] === 'agents' ? `Agent ${own[1]}` : name.join('/');
  const host = owner.host.split('/')[0];
  const text = isSelf
    ? `${subject} is already open in this process. Close it first, or pass waitMs.`
    : `${subject} is in use by process ${owner.pid} on ${host}.`;
  const heartbeatAgeMs = Math.max(0, Math.round(ageMs));
  return new RekindleError('LEASE_HELD', text, {
    details: { name: name.join('/'), fence, owner: { ...owner }, isSelf, heartbeatAgeMs },
  });
}
