/**
 * One journal line: the record's own fields first and readable, then `_seq` and `_crc`.
 *
 * {"trace_type":"user","content":"Hi","_seq":12,"_crc":"1a2b3c4d"}
 *
 * `_crc` is the CRC-32 of all bytes of the line before `,"_crc"`. A line without `_seq` and `_crc` was written by
 * another tool and is accepted as unverified. A line with only part of them is damaged. The first line of a segment
 * that follows a sealed one is a header; it seals the segment before it (see `SegmentHeader`).
 */
import { crc32, crcHex } from '../../core/crc32.js';
import { isJsonObject, type JsonObject, tryParseJson } from '../../core/json.js';
import { tryParseJsonKeepingDigits } from '../../core/json-digits.js';
import { RESERVED_KEYS } from '../record-encoding.js';

/** `,"_crc":"` + 8 digits + `"}` */
const CRC_FIELD_BYTES = 19;
const SEQ_KEY = Buffer.from('"_seq":');
/** Written in place of a damaged record that a repair removed; it explains the gap in the numbers. */
export const LOST_MARK = '{"_lost":1}';
const HEADER_START = Buffer.from('{"_segment":');

/** States where the previous segment ends. Bytes after `prevLength` in it were written by a writer without a lease. */
export interface SegmentHeader {
  readonly segment: number;
  readonly prevLength: number;
  /** Sequence number of the last record before this segment. */
  readonly prevSeq: number;
  readonly fence: number;
}

export type DecodedLine =
  | {
      readonly kind: 'record';
      readonly record: JsonObject;
      readonly seq: number | null;
      readonly crc: string | null;
    }
  | { readonly kind: 'header'; readonly header: SegmentHeader }
  | { readonly kind: 'lost' }
  | { readonly kind: 'damage'; readonly reason: 'checksum' | 'not-json' };

export function encodeHeader(header: SegmentHeader): Buffer {
  const { segment, prevLength, prevSeq, fence } = header;
  const body = `{"_segment":${segment},"_prev_length":${prevLength},"_prev_seq":${prevSeq},"_fence":${fence}`;
  return Buffer.from(`${body},"_crc":"${crcHex(crc32(body))}"}\n`);
}

/** Decodes one whole line, without its newline. */
export function decodeLine(line: Buffer): DecodedLine {
  const crc = crcOf(line);
  if (crc === null) return decodeUnverified(line);
  const bodyEnd = line.length - CRC_FIELD_BYTES;
  if (crcHex(crc32(line.subarray(0, bodyEnd))) !== crc) return { kind: 'damage', reason: 'checksum' };
  if (line.subarray(0, HEADER_START.length).equals(HEADER_START)) return decodeHeader(line);
  return decodeVerified(line, bodyEnd, crc);
}

/** The checksum of a line, or null if the line does not end with one. */
function crcOf(line: Buffer): string | null {
  if (line.length <= CRC_FIELD_BYTES || line[line.length - 1] !== 0x7d) return null;
  const field = line.toString('latin1', line.length - CRC_FIELD_BYTES, line.length);
  return field.startsWith(',"_crc":"') && field.endsWith('"}') ? field.slice(9, 17) : null;
}

function decodeVerified(line: Buffer, bodyEnd: number, crc: string): DecodedLine {
  const seqAt = line.lastIndexOf(SEQ_KEY, bodyEnd);
  if (seqAt < 1) return { kind: 'damage', reason: 'checksum' };
  const seq = Number(line.toString('latin1', seqAt + SEQ_KEY.length, bodyEnd));
  const recordEnd = line[seqAt - 1] === 0x2c ? seqAt - 1 : seqAt;
  const record = tryParseJson(`${line.toString('utf8', 0, recordEnd)}}`);
  if (!Number.isSafeInteger(seq) || !isJsonObject(record)) return { kind: 'damage', reason: 'not-json' };
  return { kind: 'record', record, seq, crc };
}

function decodeUnverified(line: Buffer): DecodedLine {
  if (line.toString('latin1').trim() === LOST_MARK) return { kind: 'lost' };
  // Our own lines contain no numbers that would be rounded; lines of other tools may.
  const record = tryParseJsonKeepingDigits(line.toString('utf8', 0, line.length));
  if (!isJsonObject(record)) return { kind: 'damage', reason: 'not-json' };
  if (RESERVED_KEYS.some((key) => Object.hasOwn(record, key))) return { kind: 'damage', reason: 'checksum' };
  return { kind: 'record', record, seq: null, crc: null };
}

function decodeHeader(line: Buffer): DecodedLine {
  const value = tryParseJson(line.toString('utf8', 0, line.length));
  if (!isJsonObject(value)) return { kind: 'damage', reason: 'not-json' };
  const fields = [value['_segment'], value['_prev_length'], value['_prev_seq'], value['_fence']];
  if (!fields.every((field) => Number.isSafeInteger(field))) return { kind: 'damage', reason: 'not-json' };
  const [segment, prevLength, prevSeq, fence] = fields as [number, number, number, number];
  return { kind: 'header', header: { segment, prevLength, prevSeq, fence } };
}
