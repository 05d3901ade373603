/** What every lease shares: the state "held", "released" or "lost", the heartbeat, and the error that tells of the loss. */
import { RekindleError } from '../core/errors.js';
import type { LeaseOwner } from './ports.js';

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

  /** Beats until stopped. A failure is no exception: the next check of the holder tells. Does not keep the process alive. */
  startHeartbeat(everyMs: number, beat: () => Promise<void>): void {
    this.#timer = setInterval(() => void beat().catch(() => {}), everyMs);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** The owner lets go: no right is left, and no loss is told. */
  release(): void {
    this.stop();
    this.#released = true;
  }

  /** @throws LEASE_LOST when it is known that the lease is held no more */
  throwUnlessHeld(name: string, fence: number): void {
    this.lost.throwIfAborted();
    if (!this.#released) return;
    throw new RekindleError('LEASE_LOST', `The lease on ${name} (fence ${fence}) was released.`, {
      details: { name, fence },
    });
  }

  /** Marks the lease as lost and gives the error to throw. */
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

export function leaseHeld(name: string, fence: number, owner: LeaseOwner, sinceMs: number): RekindleError {
  return new RekindleError('LEASE_HELD', `${name} is in use by process ${owner.pid} on ${owner.host}.`, {
    details: { name, fence, owner: { ...owner }, heartbeatAgeMs: Math.max(0, Math.round(sinceMs)) },
  });
}
