/**
 * Reads JSON objects one per line, by bytes: only 0x0A ends a line. Two records joined without a newline are both read,
 * a byte order mark and carriage returns are skipped, and invalid JSON is reported with its place.
 */
import { utf8Text } from '../../../core/bytes.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { parseJsonKeepingDigits } from '../../../core/json-digits.js';
import { endOfObject } from '../../../core/json-scan.js';
import type { LossAccount } from '../loss-account.js';
import { splitLines } from './split-lines.js';

export interface JsonLine {
  readonly value: JsonObject;
  /** Starts at 1. Records joined on one line have the same number. */
  readonly line: number;
  /** Range of the record's bytes in the source. */
  readonly start: number;
  readonly end: number;
}

const OPEN_OBJECT = 0x7b;

/** Lines that are not a JSON object are counted as dropped. */
export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
  losses: LossAccount,
): AsyncGenerator<JsonLine> {
  for await (const { bytes, start, line } of splitLines(chunks)) {
    for (const record of recordsOf(bytes, start, line)) {
      if (typeof record === 'string') losses.drop(record, `line ${line}`);
      else {
        losses.record();
        yield record;
      }
    }
  }
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
    else found.push('a record that is not JSON');
    // After a torn record the next one may start anywhere; a nested object must not be taken for it.
    from = value ? bytes.indexOf(OPEN_OBJECT, end) : -1;
  }
  return found.length > 0 ? found : ['a line that is not a JSON object'];
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
