/** Every operation of the engine. */
import type { SqlAnswer, SqlOperation, SqlRequest } from '../sql/sql-engine.js';
import { deleteBlob, hasBlob, listBlobs, putBlob, readBlob } from './rows/blob-rows.js';
import type { RowContext } from './rows/context.js';
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

export const OPERATIONS: {
  readonly [K in SqlOperation]: (context: RowContext, request: SqlRequest<K>) => Promise<SqlAnswer<K>>;
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

/** What others who watch are told of: journals and documents. */
const TOLD: ReadonlySet<SqlOperation> = new Set([
  'append',
  'setRecordsAside',
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
