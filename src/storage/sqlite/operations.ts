/** Every operation of the engine, and how it runs. */
import { onlyReads } from '../sql/empty-answers.js';
import type { SqlAnswer, SqlOperation, SqlRequest } from '../sql/sql-engine.js';
import * as blobs from './rows/blob-rows.js';
import * as documents from './rows/document-rows.js';
import * as leases from './rows/lease-rows.js';
import * as names from './rows/name-rows.js';
import * as places from './rows/place-rows.js';
import * as records from './rows/record-rows.js';
import type { SqliteConnection } from './sqlite-connection.js';

export const OPERATIONS: {
  readonly [K in SqlOperation]: (db: SqliteConnection, request: SqlRequest<K>) => SqlAnswer<K>;
} = { ...leases, ...records, ...documents, ...blobs, ...names, ...places };

export type Durability = 'read' | 'volatile' | 'durable';

/** Written without a sync: whatever relies on it is synced later in the same log, and includes it. */
const VOLATILE: ReadonlySet<SqlOperation> = new Set([
  'takeLease',
  'beatLease',
  'releaseLease',
  'overwriteTail',
]);

export function durabilityOf<K extends SqlOperation>(operation: K, request: SqlRequest<K>): Durability {
  if (onlyReads(operation) || operation === 'openStream') return 'read';
  if (VOLATILE.has(operation)) return 'volatile';
  return operation === 'writeDocument' && (request as SqlRequest<'writeDocument'>).cache
    ? 'volatile'
    : 'durable';
}
