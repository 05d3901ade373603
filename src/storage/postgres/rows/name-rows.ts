import type { StoredName } from '../../ports.js';
import type { SqlRequest } from '../../sql/sql-engine.js';
import type { RowContext } from './context.js';

export async function listSegments(
  { db, schema }: RowContext,
  { start, end }: SqlRequest<'listSegments'>,
): Promise<string[]> {
  const sql = `
    SELECT DISTINCT split_part(rest, '/', 1) AS segment FROM (
      SELECT substr(key, $1::int) AS rest FROM ${schema}.streams WHERE key >= $2 AND key < $3 AND seq > 0
      UNION ALL SELECT substr(key, $1::int) FROM ${schema}.documents WHERE key >= $2 AND key < $3
      UNION ALL SELECT substr(scope, $1::int) FROM ${schema}.blobs WHERE scope >= $2 AND scope < $3) below`;
  const rows = await db.query<{ segment: string }>(sql, [start.length + 1, start, end]);
  return rows.map(({ segment }) => segment);
}

export async function readMarks(
  { db, schema }: RowContext,
  { start, end }: SqlRequest<'readMarks'>,
): Promise<(readonly [string, string])[]> {
  const sql = `
    SELECT key, seq::text || '.' || archived_to::text AS mark FROM ${schema}.streams WHERE key >= $1 AND key < $2 AND seq > 0
    UNION ALL SELECT key, revision::text || '.' || COALESCE(token, '') FROM ${schema}.documents WHERE key >= $1 AND key < $2`;
  const rows = await db.query<{ key: string; mark: string }>(sql, [start, end]);
  return rows.map(({ key, mark }) => [key, mark] as const);
}

export async function listContents(
  { db, schema }: RowContext,
  { start, end }: SqlRequest<'listContents'>,
): Promise<(readonly [StoredName['kind'], string])[]> {
  const sql = `
    SELECT 'journal' AS kind, key FROM ${schema}.streams WHERE key >= $1 AND key < $2 AND seq > 0
    UNION ALL SELECT 'document', key FROM ${schema}.documents WHERE key >= $1 AND key < $2
    UNION ALL (SELECT DISTINCT 'blobs', scope FROM ${schema}.blobs WHERE scope >= $1 AND scope < $2) ORDER BY key`;
  const rows = await db.query<{ kind: StoredName['kind']; key: string }>(sql, [start, end]);
  return rows.map(({ kind, key }) => [kind, key] as const);
}
