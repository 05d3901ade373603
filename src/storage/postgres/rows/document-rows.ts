import { RekindleError } from '../../../core/errors.js';
import { versionOf } from '../../document-encoding.js';
import type { SqlAnswer, SqlRequest, StoredBytes } from '../../sql/sql-engine.js';
import { PIECE_BYTES } from '../migrations.js';
import { type RowContext, timeSql } from './context.js';

interface DocumentRow {
  readonly size: number;
  readonly version: string | null;
  readonly token: string | null;
  readonly revision: number;
  readonly bytes: Buffer;
}

/**
 * Pieces beyond the end may be left from longer content, so the size decides. Read as rows: one long value takes longer
 * to build and send.
 */
async function documentRow({ db, schema }: RowContext, key: string): Promise<DocumentRow | null> {
  const sql = `
    SELECT d.size, d.version, d.token, d.revision, p.bytes
    FROM ${schema}.documents d LEFT JOIN ${schema}.document_pieces p
      ON p.key = $1 AND p.piece * ${PIECE_BYTES} < d.size
    WHERE d.key = $1 ORDER BY p.piece`;
  const rows = await db.query<Omit<DocumentRow, 'bytes'> & { bytes: Buffer | null }>(sql, [key]);
  const [first] = rows;
  return first ? { ...first, bytes: Buffer.concat(rows.flatMap(({ bytes }) => bytes ?? [])) } : null;
}

async function lookAt(
  { db, schema }: RowContext,
  key: string,
): Promise<Pick<DocumentRow, 'token' | 'revision'> | null> {
  const sql = `SELECT token, revision FROM ${schema}.documents WHERE key = $1`;
  const [row] = await db.query<Pick<DocumentRow, 'token' | 'revision'>>(sql, [key]);
  return row ?? null;
}

function bytesOf({ size, bytes }: DocumentRow): Uint8Array {
  return bytes.subarray(0, size);
}

export async function readDocument(
  context: RowContext,
  { key }: SqlRequest<'readDocument'>,
): Promise<StoredBytes | null> {
  const row = await documentRow(context, key);
  return row && { bytes: bytesOf(row) };
}

/** The row of the document is changed first: any other writer waits there, and writes all its pieces afterwards. */
function writeSql({ schema, unsynced }: RowContext, document: string, cache: boolean): string {
  const quick = cache ? unsynced : '';
  return `
    WITH ${quick && `${quick}, `}document AS (${document} RETURNING key)
    INSERT INTO ${schema}.document_pieces (key, piece, bytes)
    SELECT document.key, n, substr($2::bytea, n::int * ${PIECE_BYTES} + 1, ${PIECE_BYTES})
    FROM document${quick && ', unsynced'}, generate_series(0::bigint, $3::bigint) AS n
    ON CONFLICT (key, piece) DO UPDATE SET bytes = EXCLUDED.bytes`;
}

export async function writeDocument(
  context: RowContext,
  request: SqlRequest<'writeDocument'>,
): Promise<SqlAnswer<'writeDocument'>> {
  const { db, schema } = context;
  const { key, bytes, version, ifVersion, cache, token, nowMs } = request;
  const last = Math.max(0, Math.ceil(bytes.length / PIECE_BYTES) - 1);
  const values = [key, bytes, last, bytes.length, version, token, nowMs];
  const insert = `INSERT INTO ${schema}.documents (key, size, version, token, revision, modified_ms)
    VALUES ($1, $4, $5, $6, 1, ${timeSql('$7')}) ON CONFLICT (key)`;
  const set = `size = $4, version = $5, token = $6, revision = documents.revision + 1, modified_ms = ${timeSql('$7')}`;
  if (cache && ifVersion === undefined) {
    await db.change(writeSql(context, `${insert} DO UPDATE SET ${set}`, cache), values);
    return null;
  }
  // Overwrites only the version that was just seen: a first try that the network delayed must not overwrite later writes.
  for (;;) {
    const standing = ifVersion === undefined ? await lookAt(context, key) : await documentRow(context, key);
    if (db.unsure && standing?.token === token) return null; // the answer of an earlier try was lost
    if (ifVersion !== undefined) {
      const stored = versionStanding(standing as DocumentRow | null);
      if (stored !== ifVersion && db.unsure) throw mayHaveBeen(key);
      if (stored !== ifVersion) return { conflict: stored };
    }
    const document = standing
      ? `UPDATE ${schema}.documents SET ${set} WHERE key = $1 AND revision = $8 AND token IS NOT DISTINCT FROM $9`
      : `${insert} DO NOTHING`;
    const guard = standing ? [standing.revision, standing.token] : [];
    if ((await db.change(writeSql(context, document, cache), [...values, ...guard])) > 0) return null;
  }
}

/** The end may have been replaced since the version was noted. */
function versionStanding(row: DocumentRow | null): string | null {
  return row && (row.version ?? versionOf(bytesOf(row)));
}

/** An earlier try may have taken effect and been followed by another writer's write. */
function mayHaveBeen(key: string): RekindleError {
  return new RekindleError('STORAGE_UNAVAILABLE', `The answer to a write of ${key} was lost.`, {
    details: { key },
  });
}

export async function overwriteTail(
  context: RowContext,
  { key, offset, bytes, nowMs }: SqlRequest<'overwriteTail'>,
): Promise<SqlAnswer<'overwriteTail'>> {
  const { db, schema, unsynced } = context;
  const first = Math.floor(offset / PIECE_BYTES);
  const keep = offset - first * PIECE_BYTES;
  // The first piece keeps its beginning. New bytes follow, cut into pieces at the same positions.
  const room = PIECE_BYTES - keep;
  const last = first + Math.max(0, Math.ceil((bytes.length - room) / PIECE_BYTES));
  const sql = `
    WITH ${unsynced && `${unsynced}, `}document AS (
      UPDATE ${schema}.documents SET size = $4::bigint, version = NULL, revision = revision + 1, modified_ms = ${timeSql('$5')}
      WHERE key = $1 AND size >= $3::bigint RETURNING key)
    INSERT INTO ${schema}.document_pieces (key, piece, bytes)
    SELECT document.key, n, CASE WHEN n = $6::bigint THEN substr($2::bytea, 1, $8::int)
      ELSE substr($2::bytea, $8::int + (n - $6::bigint - 1)::int * ${PIECE_BYTES} + 1, ${PIECE_BYTES}) END
    FROM document${unsynced && ', unsynced'}, generate_series($6::bigint, $7::bigint) AS n
    ON CONFLICT (key, piece) DO UPDATE SET bytes =
      CASE WHEN EXCLUDED.piece = $6::bigint THEN substr(document_pieces.bytes, 1, $9::int) || EXCLUDED.bytes
      ELSE EXCLUDED.bytes END`;
  const values = [key, bytes, offset, offset + bytes.length, nowMs, first, last, room, keep];
  if ((await db.change(sql, values)) > 0) return null;
  const [row] = await db.query<{ size: number }>(`SELECT size FROM ${schema}.documents WHERE key = $1`, [
    key,
  ]);
  return { size: row?.size ?? null };
}

export async function documentTime(
  { db, schema }: RowContext,
  { key }: SqlRequest<'documentTime'>,
): Promise<number | null> {
  const sql = `SELECT modified_ms FROM ${schema}.documents WHERE key = $1`;
  const [row] = await db.query<{ modified_ms: number }>(sql, [key]);
  return row?.modified_ms ?? null;
}

export async function renameDocument(
  { db, schema }: RowContext,
  { key, to }: SqlRequest<'renameDocument'>,
): Promise<boolean> {
  const moved = await db.transaction(async (tx) => {
    const copy = `INSERT INTO ${schema}.documents (key, size, version, token, revision, modified_ms)
      SELECT $2, size, version, token, revision, modified_ms FROM ${schema}.documents WHERE key = $1 FOR UPDATE`;
    if ((await tx.change(copy, [key, to])) === 0) return false;
    await tx.change(
      `INSERT INTO ${schema}.document_pieces (key, piece, bytes)
       SELECT $2, piece, bytes FROM ${schema}.document_pieces WHERE key = $1`,
      [key, to],
    );
    await tx.change(`DELETE FROM ${schema}.document_pieces WHERE key = $1`, [key]);
    await tx.change(`DELETE FROM ${schema}.documents WHERE key = $1`, [key]);
    return true;
  });
  if (moved || !db.unsure) return moved;
  return (await db.query(`SELECT 1 AS there FROM ${schema}.documents WHERE key = $1`, [to])).length === 1;
}

/** Deletes only the version that was just seen, as for a write. */
export async function deleteDocument(
  context: RowContext,
  { key }: SqlRequest<'deleteDocument'>,
): Promise<boolean> {
  const { db, schema } = context;
  const sql = `
    WITH document AS (
      DELETE FROM ${schema}.documents WHERE key = $1 AND revision = $2 AND token IS NOT DISTINCT FROM $3 RETURNING key), pieces AS (
      DELETE FROM ${schema}.document_pieces p USING document WHERE p.key = $1)
    SELECT key FROM document`;
  for (;;) {
    const standing = await lookAt(context, key);
    if (!standing) return db.unsure;
    if ((await db.query(sql, [key, standing.revision, standing.token])).length === 1) return true;
  }
}

export async function listDocuments(
  { db, schema }: RowContext,
  { start, end }: SqlRequest<'listDocuments'>,
): Promise<string[]> {
  const sql = `SELECT key FROM ${schema}.documents WHERE key >= $1 AND key < $2 AND strpos(substr(key, $3::int), '/') = 0`;
  const rows = await db.query<{ key: string }>(sql, [start, end, start.length + 1]);
  return rows.map(({ key }) => key);
}
