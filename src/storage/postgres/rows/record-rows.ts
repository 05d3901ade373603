import type { RecordPage, SqlAnswer, SqlRequest, StreamHead } from '../../sql/sql-engine.js';
import type { RowContext } from './context.js';
import { holdsLease } from './lease-rows.js';

interface HeadRow {
  readonly seq: number;
  readonly crc: string | null;
  readonly archived_to: number;
  readonly removed_to: number;
}

/** Approximate maximum bytes of a page of records. */
const PAGE_BYTES = 8 * 1024 * 1024;
const HEAD = 'seq, crc, archived_to, removed_to';

function headOf({ seq, crc, archived_to, removed_to }: HeadRow): StreamHead {
  return { seq, crc, archivedTo: archived_to, removedTo: removed_to };
}

export async function readHead(
  { db, schema }: RowContext,
  { key }: SqlRequest<'readHead'>,
): Promise<StreamHead | null> {
  const [row] = await db.query<HeadRow>(`SELECT ${HEAD} FROM ${schema}.streams WHERE key = $1`, [key]);
  return row ? headOf(row) : null;
}

/**
 * The share lock makes a takeover wait until the stream is bound, so that it finds it. If the takeover came first,
 * nothing is bound.
 */
export async function openStream(
  { db, schema, unsynced }: RowContext,
  { key, lease }: SqlRequest<'openStream'>,
): Promise<StreamHead | 'fenced'> {
  const sql = `
    WITH ${unsynced && `${unsynced}, `}holder AS (
      SELECT key, fence FROM ${schema}.leases WHERE key = $2 AND fence = $3 AND NOT released FOR SHARE)
    INSERT INTO ${schema}.streams (key, seq, archived_to, removed_to, lease, fence)
    SELECT $1, 0, 0, 0, holder.key, holder.fence FROM holder${unsynced && ', unsynced'}
    ON CONFLICT (key) DO UPDATE SET lease = EXCLUDED.lease, fence = EXCLUDED.fence
    RETURNING ${HEAD}`;
  const [row] = await db.query<HeadRow>(sql, [key, lease.key, lease.fence]);
  return row ? headOf(row) : 'fenced';
}

/** One statement on one stream: moves its head only from the expected position and under the fence that it is bound to. */
export async function append(
  context: RowContext,
  request: SqlRequest<'append'>,
): Promise<SqlAnswer<'append'>> {
  if (await appendOnce(context, request)) return 'appended';
  const { key, lease, expectedSeq } = request;
  if (!(await holdsLease(context, lease))) return 'fenced'; // even if the record is there: the new owner has already decided about it
  if (context.db.unsure && (await isOurs(context, request))) return 'appended';
  // Its own binding may be lost, because that is not synced by itself.
  const head = await openStream(context, { key, lease });
  if (head === 'fenced' || head.seq !== expectedSeq) return head === 'fenced' ? 'fenced' : 'conflict';
  return (await appendOnce(context, request)) ? 'appended' : 'fenced';
}

async function appendOnce({ db, schema }: RowContext, request: SqlRequest<'append'>): Promise<boolean> {
  const { key, lease, expectedSeq, records, appendKey } = request;
  const sql = `
    WITH moved AS (
      UPDATE ${schema}.streams SET seq = $2::bigint + $7::bigint, crc = $8
      WHERE key = $1 AND seq = $2::bigint AND lease = $3 AND fence = $4
      RETURNING key)
    INSERT INTO ${schema}.records (key, seq, crc, append_key, body)
    SELECT moved.key, $2::bigint + added.n, added.crc, CASE WHEN added.n = 1 THEN $9 END, added.body
    FROM moved, unnest($5::text[], $6::text[]) WITH ORDINALITY AS added (crc, body, n)`;
  const bodies = records.map(({ body }) => Buffer.from(body.buffer, body.byteOffset, body.length).toString());
  const crcs = records.map(({ crc }) => crc);
  const values = [
    key,
    expectedSeq,
    lease.key,
    lease.fence,
    crcs,
    bodies,
    records.length,
    crcs.at(-1)!,
    appendKey,
  ];
  return (await db.change(sql, values)) > 0;
}

async function isOurs(context: RowContext, request: SqlRequest<'append'>): Promise<boolean> {
  const { key, expectedSeq, appendKey } = request;
  return (await findAppend(context, { key, seq: expectedSeq + 1 })) === appendKey;
}

export async function findAppend(
  { db, schema }: RowContext,
  { key, seq }: SqlRequest<'findAppend'>,
): Promise<string | null> {
  const sql = `SELECT append_key FROM ${schema}.records WHERE key = $1 AND seq = $2`;
  const [row] = await db.query<{ append_key: string | null }>(sql, [key, seq]);
  return row?.append_key ?? null;
}

interface PageRow {
  readonly head_seq: number;
  readonly head_crc: string | null;
  readonly archived_to: number;
  readonly removed_to: number;
  readonly seq: number | null;
  readonly crc: string;
  readonly body: string | null;
}

export async function readRecords(
  { db, schema }: RowContext,
  request: SqlRequest<'readRecords'>,
): Promise<RecordPage> {
  const { key, after, upTo, backward, archived, limit } = request;
  const order = backward ? 'DESC' : 'ASC';
  const low = archived ? 'removed_to' : 'archived_to';
  const sql = `
    SELECT page.*, sum(octet_length(body)) OVER (ORDER BY seq ${order}) - octet_length(body) AS before FROM (
      SELECT s.seq AS head_seq, s.crc AS head_crc, s.archived_to, s.removed_to, r.seq, r.crc, r.body
      FROM ${schema}.streams s LEFT JOIN LATERAL (
        SELECT seq, crc, body FROM ${schema}.records
        WHERE key = $1 AND seq > GREATEST($2::bigint, s.${low}) AND seq <= LEAST($3::bigint, s.seq)
        ORDER BY seq ${order} LIMIT $4) r ON true
      WHERE s.key = $1) page ORDER BY seq ${order}`;
  const cut = `SELECT * FROM (${sql}) bounded WHERE before IS NULL OR before < ${PAGE_BYTES}`;
  const rows = await db.query<PageRow>(cut, [key, after, upTo, limit]);
  const [first] = rows;
  if (!first) return { head: null, records: [], last: true };
  const records = rows.flatMap(({ seq, crc, body }) =>
    seq === null ? [] : [{ seq, crc, body: body === null ? null : Buffer.from(body) }],
  );
  const bytes = records.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
  const head = headOf({ ...first, seq: first.head_seq, crc: first.head_crc });
  return { head, records, last: records.length < limit && bytes < PAGE_BYTES };
}

export async function setRecordsAside(
  { db, schema }: RowContext,
  { key, lease, archivedTo, remove }: SqlRequest<'setRecordsAside'>,
): Promise<StreamHead | 'fenced'> {
  const sql = `
    WITH moved AS (
      UPDATE ${schema}.streams SET archived_to = GREATEST(archived_to, $4::bigint),
        removed_to = CASE WHEN $5::boolean THEN GREATEST(archived_to, $4::bigint) ELSE removed_to END
      WHERE key = $1 AND lease = $2 AND fence = $3
      RETURNING ${HEAD}), gone AS (
      DELETE FROM ${schema}.records r USING moved WHERE r.key = $1 AND $5::boolean AND r.seq <= moved.archived_to)
    SELECT ${HEAD} FROM moved`;
  const [row] = await db.query<HeadRow>(sql, [key, lease.key, lease.fence, archivedTo, remove]);
  return row ? headOf(row) : 'fenced';
}

export async function replaceRecords(
  { db, schema }: RowContext,
  { key, lease, seqs }: SqlRequest<'replaceRecords'>,
): Promise<'replaced' | 'fenced'> {
  return db.transaction(async (tx) => {
    const own = `SELECT 1 AS own FROM ${schema}.streams WHERE key = $1 AND lease = $2 AND fence = $3 FOR UPDATE`;
    if ((await tx.query(own, [key, lease.key, lease.fence])).length === 0) return 'fenced';
    for (const seq of seqs) {
      await tx.change(
        `INSERT INTO ${schema}.damaged_records (key, seq, set_aside_ms, crc, body)
         SELECT key, seq, ${Date.now()}, crc, body FROM ${schema}.records WHERE key = $1 AND seq = $2 AND body IS NOT NULL`,
        [key, seq],
      );
      await tx.change(
        `INSERT INTO ${schema}.records (key, seq, crc, body) VALUES ($1, $2, '', NULL)
         ON CONFLICT (key, seq) DO UPDATE SET body = NULL`,
        [key, seq],
      );
    }
    return 'replaced';
  });
}

export async function eraseRecords(
  { db, schema }: RowContext,
  { key, lease, seqs }: SqlRequest<'eraseRecords'>,
): Promise<number | 'fenced'> {
  return db.transaction(async (tx) => {
    const own = `SELECT seq FROM ${schema}.streams WHERE key = $1 AND lease = $2 AND fence = $3 FOR UPDATE`;
    const [stream] = await tx.query<{ seq: number }>(own, [key, lease.key, lease.fence]);
    if (!stream) return 'fenced';
    await tx.change(`DELETE FROM ${schema}.damaged_records WHERE key = $1`, [key]);
    const mark = `UPDATE ${schema}.records SET body = NULL, crc = '', append_key = NULL
      WHERE key = $1 AND seq = ANY($2::bigint[]) AND body IS NOT NULL`;
    const records = await tx.change(mark, [key, seqs.map(String)]);
    // A reader that knows the journal up to its last record then notices that the journal changed.
    if (seqs.includes(stream.seq))
      await tx.change(`UPDATE ${schema}.streams SET crc = NULL WHERE key = $1`, [key]);
    return records;
  });
}

export async function continueStream(
  context: RowContext,
  { key, lease, after }: SqlRequest<'continueStream'>,
): Promise<SqlAnswer<'continueStream'>> {
  const { db, schema } = context;
  const sql = `UPDATE ${schema}.streams SET seq = $4, archived_to = $4, removed_to = $4
    WHERE key = $1 AND lease = $2 AND fence = $3 AND seq = 0`;
  if ((await db.change(sql, [key, lease.key, lease.fence, after])) === 1) return 'continued';
  const head = await readHead(context, { key });
  if (db.unsure && head?.seq === after && head.removedTo === after) return 'continued';
  return (await holdsLease(context, lease)) ? 'conflict' : 'fenced';
}

export async function removeStream(
  context: RowContext,
  { key, lease }: SqlRequest<'removeStream'>,
): Promise<boolean | 'fenced'> {
  const { db, schema } = context;
  if (!(await holdsLease(context, lease))) return 'fenced';
  return db.transaction(async (tx) => {
    const held = `SELECT 1 AS held FROM ${schema}.leases WHERE key = $1 AND fence = $2 AND NOT released FOR SHARE`;
    if ((await tx.query(held, [lease.key, lease.fence])).length === 0) return 'fenced';
    await tx.change(`DELETE FROM ${schema}.records WHERE key = $1`, [key]);
    const [row] = await tx.query<{ seq: number }>(
      `DELETE FROM ${schema}.streams WHERE key = $1 RETURNING seq`,
      [key],
    );
    return (row?.seq ?? 0) > 0 || db.unsure;
  });
}
