/** What the program and the thread of SQLite say to each other. */

import type { ErrorCode } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { SqlAnswer, SqlOperation, SqlRequest } from '../sql/sql-engine.js';

export interface StorePlace {
  /** Tells stores of one file apart. */
  readonly handle: number;
  readonly file: string;
  readonly busyTimeoutMs: number;
}

export type StoreOperation = 'changed' | 'scrub' | 'scrub-log' | 'close';

export interface ThreadCall {
  readonly id: number;
  readonly store: StorePlace;
  /**
   * `changed`: whether another connection has committed; `scrub`, `scrub-log`: what was removed leaves no bytes; `close`: the handle is
   * used no more.
   */
  readonly operation: SqlOperation | StoreOperation;
  readonly request: SqlRequest<SqlOperation> | null;
}

export interface ThreadError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: JsonObject;
  /** What was asked for may have taken place. */
  readonly unknown: boolean;
}

export interface ThreadAnswer {
  readonly id: number;
  readonly answer?: SqlAnswer<SqlOperation> | boolean;
  readonly error?: ThreadError;
}
