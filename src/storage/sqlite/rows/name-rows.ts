import type { StoredName } from '../../ports.js';
import type { SqlOperations } from '../../sql/sql-engine.js';
import type { SqliteConnection } from '../sqlite-connection.js';

export function listSegments(
  db: SqliteConnection,
  { start, end }: Parameters<SqlOperations['listSegments']>[0],
): string[] {
  const from = start.length + 1;
  // A blob may be in the scope itself, so the entries below a scope start after its own name.
  const sql = `
    SELECT DISTINCT substr(rest, 1, instr(rest || '/', '/') - 1) AS segment FROM (
      SELECT substr(key, ?1) AS rest FROM streams WHERE key >= ?2 AND key < ?3 AND seq > 0
      UNION ALL SELECT substr(key, ?1) FROM documents WHERE key >= ?2 AND key < ?3
      UNION ALL SELECT DISTINCT substr(scope, ?1) FROM blobs WHERE scope >= ?2 AND scope < ?3)`;
  return db.all<{ segment: string }>(sql, from, start, end).map(({ segment }) => segment);
}

export function readMarks(
  db: SqliteConnection,
  { start, end }: Parameters<SqlOperations['readMarks']>[0],
): (readonly [string, string])[] {
  const sql = `
    SELECT key, no || '.' || seq || '.' || archived_to AS mark FROM streams WHERE key >= ?1 AND key < ?2 AND seq > 0
    UNION ALL SELECT key, no || '.' || revision FROM documents WHERE key >= ?1 AND key < ?2`;
  return db.all<{ key: string; mark: string }>(sql, start, end).map(({ key, mark }) => [key, mark] as const);
}

export function listContents(
  db: SqliteConnection,
  { start, end }: Parameters<SqlOperations['listContents']>[0],
): (readonly [StoredName['kind'], string])[] {
  const sql = `
    SELECT 'journal' AS kind, key FROM streams WHERE key >= ?1 AND key < ?2 AND seq > 0
    UNION ALL SELECT 'document', key FROM documents WHERE key >= ?1 AND key < ?2
    UNION ALL SELECT DISTINCT 'blobs', scope FROM blobs WHERE scope >= ?1 AND scope < ?2 ORDER BY key`;
  return db
    .all<{ kind: StoredName['kind']; key: string }>(sql, start, end)
    .map(({ kind, key }) => [kind, key] as const);
}
