import { versionOf } from '../../document-encoding.js';
import type { KeyRange } from '../../name-key.js';
import type { SqlOperations, StoredBytes } from '../../sql/sql-engine.js';
import { PIECE_BITS, PIECE_BYTES } from '../migrations.js';
import type { SqliteConnection } from '../sqlite-connection.js';

type DocumentRow = { readonly no: number; readonly size: number; readonly version: string | null };

const ID = `(CAST(? AS INTEGER) << ${PIECE_BITS}) | ?`;

function documentRow(db: SqliteConnection, key: string): DocumentRow | null {
  return db.get<DocumentRow>('SELECT no, size, version FROM documents WHERE key = ?', key);
}

export function readDocument(
  db: SqliteConnection,
  { key }: Parameters<SqlOperations['readDocument']>[0],
): StoredBytes | null {
  const row = documentRow(db, key);
  return row && { bytes: bytesOf(db, row) };
}

function bytesOf(db: SqliteConnection, { no, size }: DocumentRow): Uint8Array {
  const all = new Uint8Array(size);
  let offset = 0;
  const sql = `SELECT bytes FROM document_pieces WHERE id >= (${ID}) AND id < (${ID}) ORDER BY id`;
  for (const { bytes } of db.all<{ bytes: Uint8Array }>(sql, no, 0, no + 1, 0)) {
    all.set(bytes, offset);
    offset += bytes.length;
  }
  return all;
}

export function writeDocument(
  db: SqliteConnection,
  request: Parameters<SqlOperations['writeDocument']>[0],
): ReturnType<SqlOperations['writeDocument']> {
  const { key, bytes, version, ifVersion, nowMs } = request;
  const row = documentRow(db, key);
  if (ifVersion !== undefined) {
    // The end may have been replaced since the version was noted.
    const stored = row && (row.version ?? versionOf(bytesOf(db, row)));
    if (stored !== ifVersion) return { conflict: stored };
  }
  const now = nowMs ?? Date.now();
  const no = row?.no ?? newDocument(db, key, now);
  const sql =
    'UPDATE documents SET size = ?, version = ?, revision = revision + 1, modified_ms = ? WHERE no = ?';
  db.run(sql, bytes.length, version, now, no);
  writePieces(db, no, 0, bytes);
  return null;
}

function newDocument(db: SqliteConnection, key: string, now: number): number {
  const sql = 'INSERT INTO documents (key, size, revision, modified_ms) VALUES (?, 0, 0, ?) RETURNING no';
  return db.get<{ no: number }>(sql, key, now)!.no;
}

/** Writes from a piece on; the old pieces from there on are deleted. */
function writePieces(db: SqliteConnection, no: number, first: number, bytes: Uint8Array): void {
  let piece = first;
  for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES) {
    const part = bytes.subarray(offset, offset + PIECE_BYTES);
    db.run(`INSERT OR REPLACE INTO document_pieces (id, bytes) VALUES (${ID}, ?)`, no, piece, part);
    piece += 1;
  }
  db.run(`DELETE FROM document_pieces WHERE id >= (${ID}) AND id < (${ID})`, no, piece, no + 1, 0);
}

export function overwriteTail(
  db: SqliteConnection,
  { key, offset, bytes, nowMs }: Parameters<SqlOperations['overwriteTail']>[0],
): ReturnType<SqlOperations['overwriteTail']> {
  const row = documentRow(db, key);
  if (!row || row.size < offset) return { size: row?.size ?? null };
  const piece = Math.floor(offset / PIECE_BYTES);
  const keep = offset - piece * PIECE_BYTES;
  const sql = `SELECT substr(bytes, 1, ?) AS head FROM document_pieces WHERE id = ${ID}`;
  const head = keep === 0 ? null : db.get<{ head: Uint8Array }>(sql, keep, row.no, piece);
  writePieces(db, row.no, piece, Buffer.concat([head?.head ?? new Uint8Array(0), bytes]));
  const update = `UPDATE documents SET size = ?, version = NULL, revision = revision + 1, modified_ms = ? WHERE no = ?`;
  db.run(update, offset + bytes.length, nowMs ?? Date.now(), row.no);
  return null;
}

export function documentTime(
  db: SqliteConnection,
  { key }: Parameters<SqlOperations['documentTime']>[0],
): number | null {
  return (
    db.get<{ modified_ms: number }>('SELECT modified_ms FROM documents WHERE key = ?', key)?.modified_ms ??
    null
  );
}

export function renameDocument(
  db: SqliteConnection,
  { key, to }: Parameters<SqlOperations['renameDocument']>[0],
): boolean {
  return db.run('UPDATE documents SET key = ?, revision = revision + 1 WHERE key = ?', to, key) === 1;
}

export function deleteDocument(
  db: SqliteConnection,
  { key }: Parameters<SqlOperations['deleteDocument']>[0],
): boolean {
  const row = documentRow(db, key);
  if (!row) return false;
  writePieces(db, row.no, 0, new Uint8Array(0));
  return db.run('DELETE FROM documents WHERE no = ?', row.no) === 1;
}

export function deleteDocuments(db: SqliteConnection, { start, end }: KeyRange): void {
  const sql = 'SELECT key FROM documents WHERE key >= ? AND key < ?';
  for (const { key } of db.all<{ key: string }>(sql, start, end)) deleteDocument(db, { key });
}

export function listDocuments(
  db: SqliteConnection,
  { start, end }: Parameters<SqlOperations['listDocuments']>[0],
): string[] {
  const sql = `SELECT key FROM documents WHERE key >= ? AND key < ? AND instr(substr(key, ?), '/') = 0`;
  return db.all<{ key: string }>(sql, start, end, start.length + 1).map(({ key }) => key);
}
