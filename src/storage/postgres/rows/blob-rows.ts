import type { BlobRow, SqlRequest, StoredBytes } from '../../sql/sql-engine.js';
import { type RowContext, timeSql } from './context.js';

export async function putBlob(
  context: RowContext,
  { scope, digest, bytes, nowMs }: SqlRequest<'putBlob'>,
): Promise<void> {
  const { db, schema } = context;
  if (await hasBlob(context, { scope, digest })) return; // its bytes need not be sent
  const sql = `INSERT INTO ${schema}.blobs (scope, digest, size, stored_ms, bytes)
    VALUES ($1, $2, $3, ${timeSql('$4')}, $5) ON CONFLICT (scope, digest) DO NOTHING`;
  await db.change(sql, [scope, digest, bytes.length, nowMs, bytes]);
}

export async function readBlob(
  { db, schema }: RowContext,
  { scope, digest }: SqlRequest<'readBlob'>,
): Promise<StoredBytes | null> {
  const sql = `SELECT bytes FROM ${schema}.blobs WHERE scope = $1 AND digest = $2`;
  const [row] = await db.query<{ bytes: Buffer }>(sql, [scope, digest]);
  return row ?? null;
}

export async function hasBlob(
  { db, schema }: RowContext,
  { scope, digest }: SqlRequest<'hasBlob'>,
): Promise<boolean> {
  const sql = `SELECT 1 AS there FROM ${schema}.blobs WHERE scope = $1 AND digest = $2`;
  return (await db.query(sql, [scope, digest])).length === 1;
}

/** Deletes only the row that was just seen: a first try that the network delayed must not delete what was put again since. */
export async function deleteBlob(
  { db, schema }: RowContext,
  { scope, digest }: SqlRequest<'deleteBlob'>,
): Promise<boolean> {
  const look = `SELECT stored_ms FROM ${schema}.blobs WHERE scope = $1 AND digest = $2`;
  const [standing] = await db.query<{ stored_ms: number }>(look, [scope, digest]);
  if (!standing) return db.unsure;
  const sql = `DELETE FROM ${schema}.blobs WHERE scope = $1 AND digest = $2 AND stored_ms = $3`;
  return (await db.change(sql, [scope, digest, standing.stored_ms])) === 1 || db.unsure;
}

export async function listBlobs(
  { db, schema }: RowContext,
  { scope, after, limit }: SqlRequest<'listBlobs'>,
): Promise<BlobRow[]> {
  const sql = `SELECT digest, size, stored_ms FROM ${schema}.blobs
    WHERE scope = $1 AND digest > $2 ORDER BY digest LIMIT $3`;
  const rows = await db.query<{ digest: string; size: number; stored_ms: number }>(sql, [
    scope,
    after,
    limit,
  ]);
  return rows.map(({ digest, size, stored_ms }) => ({ digest, size, storedMs: stored_ms }));
}
