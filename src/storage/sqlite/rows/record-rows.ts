import type { KeyRange } from '../../name-key.js';
import {
  EMPTY_HEAD,
  type RecordPage,
  type SqlOperations,
  type StoredRecord,
  type StreamHead,
} from '../../sql/sql-engine.js';
import { SEQ_BITS } from '../migrations.js';
import type { SqliteConnection } from '../sqlite-connection.js';
import { holdsLease } from './lease-rows.js';

type StreamRow = {
  readonly no: number;
  readonly seq: number;
  readonly crc: string | null;
  readonly archived_to: number;
  readonly removed_to: number;
};

type RecordRow = { readonly seq: number; readonly crc: string; readonly body: Uint8Array | null };

/** Approximate maximum bytes of a page of records. */
const PAGE_BYTES = 8 * 1024 * 1024;
const ID = `(CAST(? AS INTEGER) << ${SEQ_BITS}) | ?`;
const SEQ = `id & ${2 ** SEQ_BITS - 1} AS seq`;

function streamRow(db: SqliteConnection, key: string): StreamRow | null {
  return db.get<StreamRow>('SELECT no, seq, crc, archived_to, removed_to FROM streams WHERE key = ?', key);
}

function headOf({ seq, crc, archived_to, removed_to }: StreamRow): StreamHead {
  return { seq, crc, archivedTo: archived_to, removedTo: removed_to };
}

export function readHead(
  db: SqliteConnection,
  { key }: Parameters<SqlOperations['readHead']>[0],
): StreamHead | null {
  const row = streamRow(db, key);
  return row && headOf(row);
}

/** Nothing is bound: each transaction checks the lease itself. */
export function openStream(
  db: SqliteConnection,
  { key, lease }: Parameters<SqlOperations['openStream']>[0],
): StreamHead | 'fenced' {
  return holdsLease(db, lease) ? (readHead(db, { key }) ?? EMPTY_HEAD) : 'fenced';
}

export function append(
  db: SqliteConnection,
  request: Parameters<SqlOperations['append']>[0],
): ReturnType<SqlOperations['append']> {
  const { key, lease, expectedSeq, records } = request;
  if (!holdsLease(db, lease)) return 'fenced';
  const stream = streamRow(db, key);
  if ((stream?.seq ?? 0) !== expectedSeq) return 'conflict';
  const no = stream?.no ?? newStream(db, key);
  let seq = expectedSeq;
  for (const { crc, body } of records) {
    seq += 1;
    const sql = `INSERT INTO records (id, crc, append_key, body) VALUES (${ID}, ?, ?, CAST(? AS TEXT))`;
    db.run(sql, no, seq, crc, seq === expectedSeq + 1 ? request.appendKey : null, body);
  }
  db.run('UPDATE streams SET seq = ?, crc = ? WHERE no = ?', seq, records.at(-1)?.crc ?? null, no);
  return 'appended';
}

function newStream(db: SqliteConnection, key: string): number {
  const sql = 'INSERT INTO streams (key, seq) VALUES (?, 0) RETURNING no';
  return db.get<{ no: number }>(sql, key)!.no;
}

export function findAppend(
  db: SqliteConnection,
  { key, seq }: Parameters<SqlOperations['findAppend']>[0],
): string | null {
  const stream = streamRow(db, key);
  const sql = `SELECT append_key FROM records WHERE id = ${ID}`;
  return stream && (db.get<{ append_key: string | null }>(sql, stream.no, seq)?.append_key ?? null);
}

export function readRecords(
  db: SqliteConnection,
  request: Parameters<SqlOperations['readRecords']>[0],
): RecordPage {
  const { key, after, upTo, backward, archived, limit } = request;
  const stream = streamRow(db, key);
  if (!stream) return { head: null, records: [], last: true };
  const low = Math.max(after, archived ? stream.removed_to : stream.archived_to);
  const high = Math.min(upTo, stream.seq);
  const sql = `SELECT ${SEQ}, crc, CAST(body AS BLOB) AS body FROM records
    WHERE id > (${ID}) AND id <= (${ID}) ORDER BY id ${backward ? 'DESC' : 'ASC'}`;
  const records: StoredRecord[] = [];
  let bytes = 0;
  let last = true;
  for (const { seq, crc, body } of db.each<RecordRow>(sql, stream.no, low, stream.no, high)) {
    if (records.length === limit || bytes > PAGE_BYTES) {
      last = false;
      break;
    }
    records.push({ seq, crc, body });
    bytes += body?.length ?? 0;
  }
  return { head: headOf(stream), records: packed(records, bytes), last };
}

/** All bodies in one buffer, which is transferred between threads without a copy. */
function packed(records: readonly StoredRecord[], size: number): StoredRecord[] {
  const all = new Uint8Array(size);
  let offset = 0;
  return records.map(({ seq, crc, body }) => {
    if (!body) return { seq, crc, body };
    all.set(body, offset);
    offset += body.length;
    return { seq, crc, body: all.subarray(offset - body.length, offset) };
  });
}

export function setRecordsAside(
  db: SqliteConnection,
  { key, lease, archivedTo, remove }: Parameters<SqlOperations['setRecordsAside']>[0],
): StreamHead | 'fenced' {
  if (!holdsLease(db, lease)) return 'fenced';
  const stream = streamRow(db, key);
  if (!stream) return EMPTY_HEAD;
  const to = Math.max(stream.archived_to, archivedTo);
  const removedTo = remove ? to : stream.removed_to;
  if (remove) deleteRecords(db, stream.no, to);
  db.run('UPDATE streams SET archived_to = ?, removed_to = ? WHERE no = ?', to, removedTo, stream.no);
  return { ...headOf(stream), archivedTo: to, removedTo };
}

function deleteRecords(db: SqliteConnection, no: number, upTo: number): void {
  db.run(`DELETE FROM records WHERE id > (${ID}) AND id <= (${ID})`, no, 0, no, upTo);
}

export function replaceRecords(
  db: SqliteConnection,
  { key, lease, seqs }: Parameters<SqlOperations['replaceRecords']>[0],
): 'replaced' | 'fenced' {
  if (!holdsLease(db, lease)) return 'fenced';
  const { no } = streamRow(db, key) ?? { no: newStream(db, key) };
  for (const seq of seqs) {
    db.run(
      `INSERT INTO damaged_records (id, key, seq, set_aside_ms, crc, body)
       SELECT id, ?, ?, ?, crc, CAST(body AS BLOB) FROM records WHERE id = ${ID} AND body IS NOT NULL`,
      ...[key, seq, Date.now(), no, seq],
    );
    const mark = `INSERT INTO records (id, crc, body) VALUES (${ID}, '', NULL)`;
    db.run(`${mark} ON CONFLICT (id) DO UPDATE SET body = NULL`, no, seq);
  }
  return 'replaced';
}

export function eraseRecords(
  db: SqliteConnection,
  { key, lease, seqs }: Parameters<SqlOperations['eraseRecords']>[0],
): number | 'fenced' {
  if (!holdsLease(db, lease)) return 'fenced';
  db.run('DELETE FROM damaged_records WHERE key = ?', key);
  const stream = streamRow(db, key);
  if (!stream) return 0;
  let records = 0;
  const mark = `UPDATE records SET body = NULL, crc = '', append_key = NULL WHERE id = ${ID} AND body IS NOT NULL`;
  for (const seq of seqs) records += db.run(mark, stream.no, seq);
  // A reader that knows the journal up to its last record then notices that the journal changed.
  if (seqs.includes(stream.seq)) db.run('UPDATE streams SET crc = NULL WHERE no = ?', stream.no);
  return records;
}

export function continueStream(
  db: SqliteConnection,
  { key, lease, after }: Parameters<SqlOperations['continueStream']>[0],
): 'continued' | 'fenced' | 'conflict' {
  if (!holdsLease(db, lease)) return 'fenced';
  const stream = streamRow(db, key);
  if (stream && stream.seq > 0) return 'conflict';
  const no = stream?.no ?? newStream(db, key);
  db.run('UPDATE streams SET seq = ?1, archived_to = ?1, removed_to = ?1 WHERE no = ?2', after, no);
  return 'continued';
}

export function removeStream(
  db: SqliteConnection,
  { key, lease }: Parameters<SqlOperations['removeStream']>[0],
): boolean | 'fenced' {
  if (!holdsLease(db, lease)) return 'fenced';
  const stream = streamRow(db, key);
  if (!stream) return false;
  deleteRecords(db, stream.no, stream.seq);
  db.run('DELETE FROM streams WHERE no = ?', stream.no);
  return stream.seq > 0;
}

export function removeStreams(db: SqliteConnection, { start, end }: KeyRange): void {
  const streams = db.all<{ no: number; seq: number }>(
    'SELECT no, seq FROM streams WHERE key >= ? AND key < ?',
    start,
    end,
  );
  for (const { no, seq } of streams) deleteRecords(db, no, seq);
  db.run('DELETE FROM streams WHERE key >= ? AND key < ?', start, end);
  db.run('DELETE FROM damaged_records WHERE key >= ? AND key < ?', start, end);
}
