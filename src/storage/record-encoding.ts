/** Encodes a record before its position is known: the same text and checksum on every backend. */
import { crc32, crcHex } from '../core/crc32.js';
import { RekindleError } from '../core/errors.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import { RECORD_BYTES_MAX } from '../core/limits.js';

export const RESERVED_KEYS: readonly string[] = ['_seq', '_crc', '_segment', '_lost'];

export interface EncodedRecord {
  /** The record's text without its closing brace. */
  readonly body: Buffer;
  readonly bodyCrc: number;
  readonly empty: boolean;
}

/** @throws INVALID_ARGUMENT for anything but a plain object, for a reserved key, and for a record that is too large */
export function encodeRecord(record: JsonObject): EncodedRecord {
  if (!isJsonObject(record)) throw invalid('A journal record must be a JSON object.');
  for (const key of RESERVED_KEYS)
    if (Object.hasOwn(record, key)) throw invalid(`A journal record must not have the key ${key}.`);
  const text = objectText(record);
  const body = Buffer.from(text.slice(0, -1), 'utf8');
  if (body.length > RECORD_BYTES_MAX) {
    throw invalid(
      `A journal record must not exceed ${RECORD_BYTES_MAX} bytes; put large bytes into an artifact.`,
    );
  }
  return { body, bodyCrc: crc32(body), empty: body.length === 1 };
}

/** `JSON.stringify` throws for a cycle, a bigint or a throwing getter; a `toJSON` may return something other than an object. */
function objectText(record: JsonObject): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(record);
  } catch (cause) {
    throw invalid('A journal record must be plain JSON.', cause);
  }
  if (!text?.startsWith('{')) throw invalid('A journal record must be a JSON object.');
  return text;
}

/** The end of the line for a record: sequence number, checksum, newline. */
export function encodeLineEnd(
  record: EncodedRecord,
  seq: number,
): { readonly text: string; readonly crc: string } {
  const seqField = `${record.empty ? '' : ','}"_seq":${seq}`;
  const crc = crcHex(crc32(seqField, record.bodyCrc));
  return { text: `${seqField},"_crc":"${crc}"}\n`, crc };
}

function invalid(message: string, cause?: unknown): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', message, { cause });
}
