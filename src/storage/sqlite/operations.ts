/** Every operation of the engine, and how it is run. */
import { onlyReads } from '../sql/empty-answers.js';
import type { SqlAnswer, SqlOperation, SqlRequest } from '../sql/sql-engine.js';
import { deleteBlob, hasBlob, listBlobs, putBlob, readBlob } from './rows/blob-rows.js';
import {
  deleteDocument,
  documentTime,
  listDocuments,
  overwriteTail,
  readDocument,
  renameDocument,
  writeDocument,
} from './rows/document-rows.js';
import { beatLease, holdsLease, readLease, releaseLease, takeLease } from './rows/lease-rows.js';
import { listContents, listSegments, readMarks } from './rows/name-rows.js';
import {
  append,
  continueStream,
  findAppend,
  openStream,
  readHead,
  readRecords,
  removeStream,
  replaceRecords,
  setRecordsAside,
} from './rows/record-rows.js';
import type { SqliteConnection } from './sqlite-connection.js';

export const OPERATIONS: {
  readonly [K in SqlOperation]: (db: SqliteConnection, request: SqlRequest<K>) => SqlAnswer<K>;
} = {
  readLease,
  takeLease,
  holdsLease,
  beatLease,
  releaseLease,
  readHead,
  openStream,
  append,
  findAppend,
  readRecords,
  setRecordsAside,
  replaceRecords,
  continueStream,
  removeStream,
  readDocument,
  writeDocument,
  overwriteTail,
  documentTime,
  renameDocument,
  deleteDocument,
  listDocuments,
  putBlob,
  readBlob,
  hasBlob,
  deleteBlob,
  listBlobs,
  listSegments,
  listContents,
  readMarks,
};

export type Durability = 'read' | 'volatile' | 'durable';

/** Written without a sync: whatever relies on it is synced after it, in the same log, and takes it along. */
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
