/** Answers for readers if there is no store: reading does not create one. */
import type { SqlAnswer, SqlOperation } from './sql-engine.js';

export const EMPTY_ANSWERS: { readonly [K in SqlOperation]?: SqlAnswer<K> } = {
  readLease: null,
  holdsLease: false,
  readHead: null,
  findAppend: null,
  readRecords: { head: null, records: [], last: true },
  readDocument: null,
  documentTime: null,
  listDocuments: [],
  readBlob: null,
  hasBlob: false,
  listBlobs: [],
  listSegments: [],
  listContents: [],
  listLeases: [],
  listPlaces: [],
  readMarks: [],
};

export function onlyReads(operation: SqlOperation): boolean {
  return operation in EMPTY_ANSWERS;
}
