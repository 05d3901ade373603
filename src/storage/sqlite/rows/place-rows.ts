/** Everything below a name: lists its size, and removes it. */
import type { PlaceRow, SqlOperations } from '../../sql/sql-engine.js';
import { SEQ_BITS } from '../migrations.js';
import type { SqliteConnection } from '../sqlite-connection.js';
import { deleteDocuments } from './document-rows.js';
import { holdsLease } from './lease-rows.js';
import { removeStreams } from './record-rows.js';

/** In one transaction: all or nothing. */
export function removeBelow(
  db: SqliteConnection,
  { start, end, lease }: Parameters<SqlOperations['removeBelow']>[0],
): 'done' | 'fenced' {
  if (!holdsLease(db, lease)) return 'fenced';
  removeStreams(db, { start, end });
  deleteDocuments(db, { start, end });
  db.run('DELETE FROM blobs WHERE scope >= ? AND scope < ?', start, end);
  return 'done';
}

export function listPlaces(
  db: SqliteConnection,
  { start, end }: Parameters<SqlOperations['listPlaces']>[0],
): PlaceRow[] {
  const records = `FROM records WHERE id > (s.no << ${SEQ_BITS}) AND id < ((s.no + 1) << ${SEQ_BITS}) AND body IS NOT NULL`;
  const sql = `
    SELECT 'journal' AS kind, key, (SELECT count(*) ${records}) AS items,
      (SELECT ifnull(sum(length(CAST(body AS BLOB))), 0) ${records}) AS bytes
      FROM streams s WHERE key >= ?1 AND key < ?2 AND seq > 0
    UNION ALL SELECT 'document', key, 1, size FROM documents WHERE key >= ?1 AND key < ?2
    UNION ALL SELECT 'blobs', scope, count(*), sum(size) FROM blobs WHERE scope >= ?1 AND scope < ?2 GROUP BY scope
    UNION ALL SELECT 'aside', key, count(*), ifnull(sum(length(body)), 0) FROM damaged_records
      WHERE key >= ?1 AND key < ?2 GROUP BY key`;
  type Row = { kind: PlaceRow[0]; key: string; items: number; bytes: number };
  return db.all<Row>(sql, start, end).map(({ kind, key, items, bytes }) => [kind, key, items, bytes]);
}
