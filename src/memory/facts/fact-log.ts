/** The storage of facts: appended rows, and the table that they result in. */
import type { JsonObject } from '../../core/json.js';
import type { FactTable } from './fact-table.js';

/** Rows to append in one commit; empty if there is nothing to do. */
export interface FactDecision<T> {
  readonly rows: readonly JsonObject[];
  /** Called when they are durable and applied. */
  done(table: FactTable): T;
}

export interface FactLog {
  /** The newest state. Writes nothing. */
  table(): Promise<FactTable>;
  /**
   * Makes one change, decided on the newest state. If `decide` throws, nothing is written and the error is passed on.
   * Durable when it resolves.
   * @throws what `Journal.append` throws
   */
  change<T>(decide: (table: FactTable) => FactDecision<T>): Promise<T>;
}
