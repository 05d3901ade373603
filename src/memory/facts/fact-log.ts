/** Where facts are kept: appended rows, and what they come to. */
import type { JsonObject } from '../../core/json.js';
import type { FactTable } from './fact-table.js';

/** Rows to append, in one commit; none where nothing is to be done. */
export interface FactDecision<T> {
  readonly rows: readonly JsonObject[];
  /** When they are durable and applied. */
  done(table: FactTable): T;
}

export interface FactLog {
  /** The newest state. Writes nothing. */
  table(): Promise<FactTable>;
  /**
   * One change, decided on the newest state; what `decide` throws is thrown, and nothing is written. Durable when it resolves.
   * @throws what `Journal.append` throws
   */
  change<T>(decide: (table: FactTable) => FactDecision<T>): Promise<T>;
}
