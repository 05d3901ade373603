/** Everything below a name: lists its size, and removes it. */
import type { PlaceRow, SqlRequest } from '../../sql/sql-engine.js';
import type { RowContext } from './context.js';

/** Rows that one statement deletes, so that it ends within its time limit. */
const RECORDS_MAX = 5_000;
const PIECES_MAX = 2_000;
const BLOBS_MAX = 100;

/** Removes a part per transaction; tables with small rows come last. */
export async function removeBelow(
  { db, schema }: RowContext,
  { start, end, lease }: SqlRequest<'removeBelow'>,
): Promise<'done' | 'more' | 'fenced'> {
  return db.transaction(async (tx) => {
    const held = `SELECT 1 AS held FROM ${schema}.leases WHERE key = $1 AND fence = $2 AND NOT released FOR SHARE`;
    if ((await tx.query(held, [lease.key, lease.fence])).length === 0) return 'fenced';
    const large = [
      ['records', 'key', 'key, seq', RECORDS_MAX],
      ['document_pieces', 'key', 'key, piece', PIECES_MAX],
      ['blobs', 'scope', 'scope, digest', BLOBS_MAX],
    ] as const;
    for (const [table, column, primary, max] of large) {
      const some = `SELECT ${primary} FROM ${schema}.${table} WHERE ${column} >= $1 AND ${column} < $2 LIMIT ${max}`;
      const sql = `DELETE FROM ${schema}.${table} WHERE (${primary}) IN (${some})`;
      if ((await tx.change(sql, [start, end])) === max) return 'more';
    }
    for (const table of ['damaged_records', 'documents', 'streams'])
      await tx.change(`DELETE FROM ${schema}.${table} WHERE key >= $1 AND key < $2`, [start, end]);
    return 'done';
  });
}

export async function listPlaces(
  { db, schema }: RowContext,
  { start, end }: SqlRequest<'listPlaces'>,
): Promise<PlaceRow[]> {
  const sql = `
    SELECT 'journal' AS kind, s.key, r.items, r.bytes FROM ${schema}.streams s, LATERAL (
      SELECT count(body) AS items, COALESCE(sum(octet_length(body)), 0)::bigint AS bytes
      FROM ${schema}.records WHERE key = s.key) r
      WHERE s.key >= $1 AND s.key < $2 AND s.seq > 0
    UNION ALL SELECT 'document', key, 1, size FROM ${schema}.documents WHERE key >= $1 AND key < $2
    UNION ALL (SELECT 'blobs', scope, count(*), sum(size)::bigint FROM ${schema}.blobs
      WHERE scope >= $1 AND scope < $2 GROUP BY scope)
    UNION ALL (SELECT 'aside', key, count(*), COALESCE(sum(octet_length(body)), 0)::bigint FROM ${schema}.damaged_records
      WHERE key >= $1 AND key < $2 GROUP BY key)`;
  interface Row {
    readonly kind: PlaceRow[0];
    readonly key: string;
    readonly items: number;
    readonly bytes: number;
  }
  const rows = await db.query<Row>(sql, [start, end]);
  return rows.map(({ kind, key, items, bytes }) => [kind, key, items, bytes] as const);
}
