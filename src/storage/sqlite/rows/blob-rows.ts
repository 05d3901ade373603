import type { BlobRow, SqlOperations, StoredBytes } from '../../sql/sql-engine.js';
import type { SqliteConnection } from '../sqlite-connection.js';

export function putBlob(
  db: SqliteConnection,
  { scope, digest, bytes, nowMs }: Parameters<SqlOperations['putBlob']>[0],
): void {
  if (hasBlob(db, { scope, digest })) return;
  const sql = 'INSERT INTO blobs (scope, digest, size, stored_ms, bytes) VALUES (?, ?, ?, ?, ?)';
  db.run(sql, scope, digest, bytes.length, nowMs ?? Date.now(), bytes);
}

export function readBlob(
  db: SqliteConnection,
  { scope, digest }: Parameters<SqlOperations['readBlob']>[0],
): StoredBytes | null {
  return db.get<{ bytes: Uint8Array }>(
    'SELECT bytes FROM blobs WHERE scope = ? AND digest = ?',
    scope,
    digest,
  );
}

export function hasBlob(
  db: SqliteConnection,
  { scope, digest }: Parameters<SqlOperations['hasBlob']>[0],
): boolean {
  return db.get('SELECT 1 FROM blobs WHERE scope = ? AND digest = ?', scope, digest) !== null;
}

export function deleteBlob(
  db: SqliteConnection,
  { scope, digest }: Parameters<SqlOperations['deleteBlob']>[0],
): boolean {
  return db.run('DELETE FROM blobs WHERE scope = ? AND digest = ?', scope, digest) === 1;
}

export function listBlobs(
  db: SqliteConnection,
  { scope, after, limit }: Parameters<SqlOperations['listBlobs']>[0],
): BlobRow[] {
  const sql = `SELECT digest, size, stored_ms FROM blobs WHERE scope = ? AND digest > ? ORDER BY digest LIMIT ?`;
  return db
    .all<{ digest: string; size: number; stored_ms: number }>(sql, scope, after, limit)
    .map(({ digest, size, stored_ms }) => ({ digest, size, storedMs: stored_ms }));
}
