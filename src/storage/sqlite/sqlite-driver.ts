/**
 * SQLite in the shape of `node:sqlite`: the runtime's own if available, else the package `@photostructure/sqlite`,
 * which has the same shape and includes its binaries.
 */
import { RekindleError } from '../../core/errors.js';

export type SqliteValue = null | number | bigint | string | Uint8Array;
export type SqliteRow = Record<string, SqliteValue>;

export interface SqliteStatement {
  run(...values: readonly SqliteValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqliteValue[]): unknown;
  all(...values: readonly SqliteValue[]): unknown[];
  iterate(...values: readonly SqliteValue[]): Iterable<unknown>;
}

export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteDriver {
  readonly DatabaseSync: new (path: string) => SqliteDatabase;
}

/** @throws DEPENDENCY_MISSING */
export async function loadSqliteDriver(): Promise<SqliteDriver> {
  const own: unknown = process.getBuiltinModule?.('node:sqlite');
  if (own) return own as SqliteDriver;
  try {
    return (await import('@photostructure/sqlite')) as unknown as SqliteDriver;
  } catch (cause) {
    throw new RekindleError(
      'DEPENDENCY_MISSING',
      `This version of Node.js has no SQLite of its own: npm install @photostructure/sqlite (1.2.1 works with Node.js 20). The file backend needs neither.`,
      { details: { package: '@photostructure/sqlite', node: process.version }, cause },
    );
  }
}
