/** Leases that another backend keeps, for object stores that cannot compare and set. */
import type { LeaseRef, LeaseRow, SqlEngine, SqlOperations } from '../../sql/sql-engine.js';
import type { StreamLeases } from './stream-objects.js';

/** Without the lease's own time, a look-up is repeated if the write took longer. */
const FRESH_MS = 1_500;

export class ForeignLeases implements StreamLeases {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  read(request: Parameters<SqlOperations['readLease']>[0]): Promise<LeaseRow | null> {
    return this.#engine.run('readLease', request);
  }

  take(request: Parameters<SqlOperations['takeLease']>[0]): Promise<boolean> {
    return this.#engine.run('takeLease', request);
  }

  holds(lease: LeaseRef): Promise<boolean> {
    return this.#engine.run('holdsLease', lease);
  }

  beat(request: Parameters<SqlOperations['beatLease']>[0]): Promise<boolean> {
    return this.#engine.run('beatLease', request);
  }

  release(lease: LeaseRef): Promise<void> {
    return this.#engine.run('releaseLease', lease);
  }

  async list(request: Parameters<SqlOperations['listLeases']>[0]): Promise<string[]> {
    return [...(await this.#engine.run('listLeases', request))];
  }

  /** Nothing says how the owners before ended. */
  unsafeFence({ fence }: LeaseRef): number {
    return fence - 1;
  }

  ttlMs(): number {
    return 3 * FRESH_MS;
  }

  markUncertain(): void {}
}
