/** Every operation of the engine. */
import type { SqlAnswer, SqlOperation, SqlRequest } from '../sql/sql-engine.js';
import * as blobs from './rows/blob-rows.js';
import type { RowContext } from './rows/context.js';
import * as documents from './rows/document-rows.js';
import * as leases from './rows/lease-rows.js';
import * as names from './rows/name-rows.js';
import * as places from './rows/place-rows.js';
import * as records from './rows/record-rows.js';

export const OPERATIONS: {
  readonly [K in SqlOperation]: (context: RowContext, request: SqlRequest<K>) => Promise<SqlAnswer<K>>;
} = { ...leases, ...records, ...documents, ...blobs, ...names, ...places };

/** Operations that are reported to watchers: changes of journals and documents. */
const TOLD: ReadonlySet<SqlOperation> = new Set([
  'append',
  'setRecordsAside',
  'eraseRecords',
  'continueStream',
  'removeStream',
  'writeDocument',
  'overwriteTail',
  'renameDocument',
  'deleteDocument',
]);

export function changedKeys<K extends SqlOperation>(operation: K, request: SqlRequest<K>): string[] {
  if (!TOLD.has(operation)) return [];
  const { key, to } = request as { readonly key: string; readonly to?: string };
  return to === undefined ? [key] : [key, to];
}
