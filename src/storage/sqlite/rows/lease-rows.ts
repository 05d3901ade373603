import type { LeaseRef, SqlOperations } from '../../sql/sql-engine.js';
import type { SqliteConnection } from '../sqlite-connection.js';

type Row = {
  readonly fence: number;
  readonly owner: string;
  readonly released: number;
  readonly beat_ms: number;
  readonly ttl_ms: number;
};

export function readLease(
  db: SqliteConnection,
  { key, nowMs }: Parameters<SqlOperations['readLease']>[0],
): ReturnType<SqlOperations['readLease']> {
  const row = db.get<Row>('SELECT fence, owner, released, beat_ms, ttl_ms FROM leases WHERE key = ?', key);
  return (
    row && {
      fence: row.fence,
      owner: row.owner,
      released: row.released === 1,
      beatMs: row.beat_ms,
      ageMs: (nowMs ?? Date.now()) - row.beat_ms,
      ttlMs: row.ttl_ms,
    }
  );
}

export function takeLease(
  db: SqliteConnection,
  { key, seen, owner, ttlMs, nowMs }: Parameters<SqlOperations['takeLease']>[0],
): boolean {
  const now = nowMs ?? Date.now();
  if (!seen) {
    const sql = 'INSERT INTO leases (key, fence, owner, released, beat_ms, ttl_ms) VALUES (?, 1, ?, 0, ?, ?)';
    return db.run(`${sql} ON CONFLICT DO NOTHING`, key, owner, now, ttlMs) === 1;
  }
  const sql = `UPDATE leases SET fence = fence + 1, owner = ?, released = 0, beat_ms = ?, ttl_ms = ?
    WHERE key = ? AND fence = ? AND beat_ms = ?`;
  return db.run(sql, owner, now, ttlMs, key, seen.fence, seen.beatMs) === 1;
}

export function holdsLease(db: SqliteConnection, { key, fence }: LeaseRef): boolean {
  return db.get('SELECT 1 FROM leases WHERE key = ? AND fence = ? AND released = 0', key, fence) !== null;
}

export function listLeases(
  db: SqliteConnection,
  { start, end }: Parameters<SqlOperations['listLeases']>[0],
): string[] {
  const sql = 'SELECT key FROM leases WHERE (key >= ? AND key < ?) OR key = ? ORDER BY key';
  return db.all<{ key: string }>(sql, start, end, start.slice(0, -1)).map(({ key }) => key);
}

export function beatLease(
  db: SqliteConnection,
  { key, fence, nowMs }: Parameters<SqlOperations['beatLease']>[0],
): boolean {
  const sql = 'UPDATE leases SET beat_ms = ? WHERE key = ? AND fence = ? AND released = 0';
  return db.run(sql, nowMs ?? Date.now(), key, fence) === 1;
}

export function releaseLease(db: SqliteConnection, { key, fence }: LeaseRef): void {
  db.run('UPDATE leases SET released = 1 WHERE key = ? AND fence = ?', key, fence);
}
