import type { PostgresAttempt } from '../postgres-pool.js';

export interface RowContext {
  readonly db: PostgresAttempt;
  /** Quoted. */
  readonly schema: string;
  /** SQL that lets a statement commit without a sync; empty if the engine has no such setting. */
  readonly unsynced: string;
}

/** Milliseconds since 1970: the given ones, or from the server's clock, which all users of the store share. */
export function timeSql(parameter: string): string {
  return `COALESCE(${parameter}::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`;
}
