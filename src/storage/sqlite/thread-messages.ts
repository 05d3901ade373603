/** The messages between the program and the SQLite thread. */

import type { ErrorCode } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { SqlAnswer, SqlOperation, SqlRequest } from '../sql/sql-engine.js';

export interface StorePlace {
  /** Identifies the store; several stores share the thread. */
  readonly handle: number;
  readonly file: string;
  readonly busyTimeoutMs: number;
}

export type StoreOperation = 'changed' | 'scrub' | 'scrub-log' | 'close';

export interface ThreadCall {
  readonly id: number;
  readonly store: StorePlace;
  /**
   * `changed`: whether another connection has committed; `scrub`, `scrub-log`: removed data leaves no bytes; `close`:
   * the handle is no longer used.
   */
  readonly operation: SqlOperation | StoreOperation;
  readonly request: SqlRequest<SqlOperation> | null;
}

export interface ThreadError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: JsonObject;
  /** The operation may have taken effect. */
  readonly unknown: boolean;
}

export interface ThreadAnswer {
  readonly id: number;
  readonly answer?: SqlAnswer<SqlOperation> | boolean;
  readonly error?: ThreadError;
}
