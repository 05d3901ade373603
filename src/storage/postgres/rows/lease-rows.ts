import type { LeaseRow, SqlRequest } from '../../sql/sql-engine.js';
import { type RowContext, timeSql } from './context.js';

interface Row {
  readonly fence: number;
  readonly owner: string;
  readonly released: boolean;
  readonly beat_ms: number;
  readonly age_ms: number;
  readonly ttl_ms: number;
}

export async function readLease(
  { db, schema }: RowContext,
  { key, nowMs }: SqlRequest<'readLease'>,
): Promise<LeaseRow | null> {
  const sql = `SELECT fence, owner, released, beat_ms, ${timeSql('$2')} - beat_ms AS age_ms, ttl_ms FROM ${schema}.leases WHERE key = $1`;
  const [row] = await db.query<Row>(sql, [key, nowMs]);
  if (!row) return null;
  const { fence, owner, released, beat_ms: beatMs, age_ms: ageMs, ttl_ms: ttlMs } = row;
  return { fence, owner, released, beatMs, ageMs, ttlMs };
}

/**
 * Writes the owner's fence to the lease and to every stream written under it: a previous writer then finds another
 * fence there. Uses two statements, because the second must see streams that were bound while the first waited.
 */
export async function takeLease(context: RowContext, request: SqlRequest<'takeLease'>): Promise<boolean> {
  const { db, schema } = context;
  const { key, seen, owner, ttlMs, nowMs } = request;
  const fence = (seen?.fence ?? 0) + 1;
  const taken = await db.transaction(async (tx) => {
    const changed = seen
      ? await tx.change(
          `UPDATE ${schema}.leases SET fence = $2, owner = $3, released = false, beat_ms = ${timeSql('$4')}, ttl_ms = $5
           WHERE key = $1 AND fence = $6 AND beat_ms = $7`,
          [key, fence, owner, nowMs, ttlMs, seen.fence, seen.beatMs],
        )
      : await tx.change(
          `INSERT INTO ${schema}.leases (key, fence, owner, released, beat_ms, ttl_ms)
           VALUES ($1, $2, $3, false, ${timeSql('$4')}, $5) ON CONFLICT (key) DO NOTHING`,
          [key, fence, owner, nowMs, ttlMs],
        );
    if (changed === 1) {
      await tx.change(`UPDATE ${schema}.streams SET fence = $2 WHERE lease = $1 AND fence < $2`, [
        key,
        fence,
      ]);
    }
    return changed === 1;
  });
  if (taken || !db.unsure) return taken;
  const standing = await readLease(context, { key, nowMs });
  return standing?.fence === fence && standing.owner === owner; // the answer of an earlier try was lost
}

export async function holdsLease(
  { db, schema }: RowContext,
  { key, fence }: SqlRequest<'holdsLease'>,
): Promise<boolean> {
  const sql = `SELECT 1 AS held FROM ${schema}.leases WHERE key = $1 AND fence = $2 AND NOT released`;
  return (await db.query(sql, [key, fence])).length === 1;
}

export async function listLeases(
  { db, schema }: RowContext,
  { start, end }: SqlRequest<'listLeases'>,
): Promise<string[]> {
  const sql = `SELECT key FROM ${schema}.leases WHERE (key >= $1 AND key < $2) OR key = $3 ORDER BY key`;
  const rows = await db.query<{ key: string }>(sql, [start, end, start.slice(0, -1)]);
  return rows.map(({ key }) => key);
}

export async function beatLease(
  { db, schema, unsynced }: RowContext,
  { key, fence, nowMs }: SqlRequest<'beatLease'>,
): Promise<boolean> {
  const sql = `${unsynced && `WITH ${unsynced} `}UPDATE ${schema}.leases SET beat_ms = ${timeSql('$3')}
    WHERE key = $1 AND fence = $2 AND NOT released${unsynced && ' AND EXISTS (SELECT 1 FROM unsynced)'}`;
  return (await db.change(sql, [key, fence, nowMs])) === 1;
}

export async function releaseLease(
  { db, schema, unsynced }: RowContext,
  { key, fence }: SqlRequest<'releaseLease'>,
): Promise<void> {
  const sql = `${unsynced && `WITH ${unsynced} `}UPDATE ${schema}.leases SET released = true
    WHERE key = $1 AND fence = $2${unsynced && ' AND EXISTS (SELECT 1 FROM unsynced)'}`;
  await db.change(sql, [key, fence]);
}
