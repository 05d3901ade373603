/**
 * The content of a journal's object: a header, then one line for each record, as in the files of a journal.
 *
 * {"_segment":5,"_count":2,"_fence":7,"_nonce":"bX3…","_crc":"5d0c1a2f"}
 * {"trace_type":"user","content":"Hi","_seq":5,"_crc":"1a2b3c4d"}
 */
import { randomBytes } from 'node:crypto';
import { crc32, crcHex } from '../../../core/crc32.js';
import { isJsonObject, tryParseJson } from '../../../core/json.js';
import type { NewRecord, StoredRecord } from '../../sql/sql-engine.js';

export interface SegmentHeader {
  /** Number of the first record. */
  readonly first: number;
  /** Number of records; 0 for a seal. */
  readonly count: number;
  /** Of the lease under which it was written. */
  readonly fence: number;
  /** Chosen by the writer: shows who made the object. */
  readonly nonce: string;
  /** Of a seal: the checksum of the record before it; null if it has none. */
  readonly previousCrc: string | null;
}

export interface DecodedSegment {
  /** Null if it is damaged. */
  readonly header: SegmentHeader | null;
  readonly records: readonly StoredRecord[];
}

/** In place of a record that was erased, or removed by a repair. */
const MARK = '{"_lost":1}';
const NEWLINE = 10;
const LINE_END = /,?"_seq":(\d{1,15}),"_crc":"([0-9a-f]{8})"\}$/;
/** Longer than every line end. */
const LINE_END_BYTES = 64;

export function encodeSegment(header: SegmentHeader, records: readonly (NewRecord | StoredRecord)[]): Buffer {
  const chunks: Uint8Array[] = [Buffer.from(encodeHeader(header))];
  let seq = header.first;
  for (const { body, crc } of records) {
    if (body === null) chunks.push(Buffer.from(`${MARK}\n`));
    else {
      const comma = body.length === 2 ? '' : ',';
      chunks.push(body.subarray(0, -1), Buffer.from(`${comma}"_seq":${seq},"_crc":"${crc}"}\n`));
    }
    seq += 1;
  }
  return Buffer.concat(chunks);
}

function encodeHeader({ first, count, fence, nonce, previousCrc }: SegmentHeader): string {
  const fields = { _segment: first, _count: count, _fence: fence, _nonce: nonce };
  const all = count === 0 && previousCrc !== null ? { ...fields, _previous_crc: previousCrc } : fields;
  const body = JSON.stringify(all).slice(0, -1);
  return `${body},"_crc":"${crcHex(crc32(body))}"}\n`;
}

/** @param first number of the first record, for an object whose header is damaged */
export function decodeSegment(bytes: Uint8Array, first: number): DecodedSegment {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const lines = linesOf(buffer);
  const header = decodeHeader(lines[0]?.toString('utf8') ?? '');
  const records: StoredRecord[] = [];
  let next = header?.first ?? first;
  for (const line of lines.slice(1)) {
    const record = decodeRecord(line, next);
    records.push(record);
    next = record.seq + 1;
  }
  return { header, records };
}

function linesOf(buffer: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < buffer.length; ) {
    const found = buffer.indexOf(NEWLINE, at);
    const end = found < 0 ? buffer.length : found;
    lines.push(buffer.subarray(at, end));
    at = end + 1;
  }
  return lines;
}

function decodeHeader(line: string): SegmentHeader | null {
  const at = line.lastIndexOf(',"_crc":"');
  const value = tryParseJson(line);
  if (at < 0 || !isJsonObject(value) || value['_crc'] !== crcHex(crc32(line.slice(0, at)))) return null;
  const { _segment: first, _count: count, _fence: fence, _nonce: nonce, _previous_crc: previous } = value;
  if (typeof first !== 'number' || typeof count !== 'number' || typeof fence !== 'number') return null;
  const previousCrc = typeof previous === 'string' ? previous : null;
  return { first, count, fence, nonce: typeof nonce === 'string' ? nonce : '', previousCrc };
}

/** Damaged bytes become a record whose checksum does not match, which readers report. */
function decodeRecord(line: Buffer, expected: number): StoredRecord {
  if (line.length === MARK.length && line.toString('latin1') === MARK)
    return { seq: expected, crc: '', body: null };
  const end = LINE_END.exec(line.subarray(-LINE_END_BYTES).toString('latin1'));
  if (!end) return { seq: expected, crc: '', body: line };
  const start = line.subarray(0, line.length - end[0].length);
  const crc = end[2]!;
  const own = Number(end[1]);
  // After a damaged newline the numbers of the next lines are right, and the count of lines is not.
  const seq = own > expected && crcOf(line) === crc ? own : expected;
  return { seq, crc, body: Buffer.concat([start, Buffer.from('}')]) };
}

function crcOf(line: Buffer): string {
  return crcHex(crc32(line.subarray(0, line.lastIndexOf(',"_crc":"'))));
}

export function newNonce(): string {
  return randomBytes(9).toString('base64url');
}
