import type { PostgresAttempt } from '../postgres-pool.js';

export interface RowContext {
  readonly db: PostgresAttempt;
  /** Quoted. */
  readonly schema: string;
  /** What lets a statement's commit go without a sync; empty where the engine has no such setting. */
  readonly unsynced: string;
}

/** Milliseconds since 1970: the given ones, or by the server's clock, which all who share it go by. */
export function timeSql(parameter: string): string {
  return `COALESCE(${parameter}::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`;
}
