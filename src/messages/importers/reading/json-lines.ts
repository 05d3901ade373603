/**
 * Reads JSON objects one per line, by bytes: only 0x0A ends a line. Two records joined without a newline are both read,
 * a byte order mark and carriage returns are skipped, and invalid JSON is reported with its place.
 */
import { joinBytes, utf8Text } from '../../../core/bytes.js';
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { parseJsonKeepingDigits } from '../../../core/json-digits.js';
import { endOfObject } from '../../../core/json-scan.js';
import type { LossAccount } from '../loss-account.js';
import { SLICE_BYTES_MAX } from './json-slices.js';

export interface JsonLine {
  readonly value: JsonObject;
  /** Starts at 1. Records joined on one line have the same number. */
  readonly line: number;
  /** Range of the record's bytes in the source. */
  readonly start: number;
  readonly end: number;
}

const NEWLINE = 0x0a;
const OPEN_OBJECT = 0x7b;

/** Lines that are not a JSON object are counted as dropped. */
export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
  losses: LossAccount,
): AsyncGenerator<JsonLine> {
  let line = 0;
  for await (const { bytes, start } of splitLines(chunks)) {
    line += 1;
    for (const record of recordsOf(bytes, start, line)) {
      if (typeof record === 'string') losses.drop(record, `line ${line}`);
      else {
        losses.record();
        yield record;
      }
    }
  }
}

interface RawLine {
  readonly bytes: Uint8Array;
  readonly start: number;
}

/** @throws TRANSCRIPT_INVALID for a line that is too long for memory */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawLine> {
  let held: Uint8Array[] = [];
  let start = 0;
  let offset = 0;
  let line = 1;
  for await (const bytes of chunks) {
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      const rest = bytes.subarray(from, at);
      if (offset + at - start > SLICE_BYTES_MAX) throw tooLong(line, start);
      line += 1;
      yield { bytes: held.length === 0 ? rest : joinBytes([...held, rest]), start };
      held = [];
      from = at + 1;
      start = offset + from;
    }
    if (from < bytes.length) held.push(Uint8Array.from(bytes.subarray(from))); // copied, because the chunk is reused
    offset += bytes.length;
    if (offset - start > SLICE_BYTES_MAX) throw tooLong(line, start);
  }
  if (held.length > 0) yield { bytes: joinBytes(held), start };
}

function tooLong(line: number, offset: number): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    `Line ${line}, which begins at byte ${offset}, is longer than ${SLICE_BYTES_MAX} bytes.`,
    { details: { problem: 'too large', line, offset, bytesMax: SLICE_BYTES_MAX } },
  );
}

/** The records of a line, and descriptions of invalid pieces. */
function recordsOf(bytes: Uint8Array, start: number, line: number): (JsonLine | string)[] {
  const from = firstByte(bytes);
  if (from >= bytes.length) return [];
  const whole = parse(bytes.subarray(from));
  if (whole) return [{ value: whole, line, start: start + from, end: start + bytes.length }];
  return salvage(bytes, start, line);
}

function salvage(bytes: Uint8Array, start: number, line: number): (JsonLine | string)[] {
  const found: (JsonLine | string)[] = [];
  let from = bytes.indexOf(OPEN_OBJECT);
  while (from >= 0) {
    const end = endOfObject(bytes, from);
    const value = end > 0 ? parse(bytes.subarray(from, end)) : undefined;
    if (value) found.push({ value, line, start: start + from, end: start + end });
    else found.push('a record that is no JSON');
    // After a torn record the next one may start anywhere; a nested object must not be taken for it.
    from = value ? bytes.indexOf(OPEN_OBJECT, end) : -1;
  }
  return found.length > 0 ? found : ['a line that is no JSON object'];
}

function parse(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value = parseJsonKeepingDigits(utf8Text(bytes));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The first byte after a byte order mark and white space. */
function firstByte(bytes: Uint8Array): number {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < bytes.length && bytes[at]! <= 0x20) at += 1;
  return at;
}
