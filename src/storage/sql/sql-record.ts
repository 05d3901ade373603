/** Converts a record between its stored text and a journal entry. */
import { crc32 } from '../../core/crc32.js';
import { isJsonObject, type JsonObject, tryParseJson } from '../../core/json.js';
import type { Cursor, JournalEntry } from '../ports.js';
import { type EncodedRecord, encodeLineEnd } from '../record-encoding.js';
import type { NewRecord, StoredRecord } from './sql-engine.js';

const BRACE = Buffer.from('}');

export function newRecord(record: EncodedRecord, seq: number): NewRecord {
  return { crc: encodeLineEnd(record, seq).crc, body: Buffer.concat([record.body, BRACE]) };
}

/** Segments of files start at 1, so a cursor of a file is rejected here, and a cursor of a row there. */
export function cursorAt(seq: number): Cursor {
  return { segment: 0, offset: seq };
}

/** Null for the mark that a repair left. */
export function entryOf<R extends JsonObject>(stored: StoredRecord, place: string): JournalEntry<R> | null {
  const { seq, crc, body } = stored;
  if (body === null) return null;
  const cursor = cursorAt(seq);
  const damage = (reason: 'checksum' | 'not-json'): JournalEntry<R> => ({
    kind: 'damage',
    reason,
    place,
    cursor,
    bytes: body.length,
  });
  const start = body.subarray(0, -1);
  const record: EncodedRecord = {
    body: Buffer.from(start.buffer, start.byteOffset, start.length),
    bodyCrc: crc32(start),
    empty: start.length === 1,
  };
  if (encodeLineEnd(record, seq).crc !== crc || body.at(-1) !== BRACE[0]) return damage('checksum');
  const value = tryParseJson(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8'));
  if (!isJsonObject(value)) return damage('not-json');
  return { kind: 'record', seq, record: value as R, cursor, crc };
}

/** Damage for records that are missing. */
export function gapAt<R extends JsonObject>(seq: number, place: string): JournalEntry<R> {
  return { kind: 'damage', reason: 'sequence-gap', place, cursor: cursorAt(seq), bytes: 0 };
}
