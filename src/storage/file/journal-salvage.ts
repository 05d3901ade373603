/**
 * Reads a line that is not exactly one record: two whole records joined because a newline was lost, or a torn record
 * followed by a whole one. Each whole record is taken; the bytes between are damage.
 *
 * A record without a checksum is taken only if it starts the line, directly follows a taken record, or reaches the end
 * of the line. Elsewhere it could be an object nested inside a damaged record.
 */
import { endOfObject } from '../../core/json-scan.js';
import { type DecodedLine, decodeLine } from './journal-line.js';

export interface LinePart {
  readonly start: number;
  readonly end: number;
  readonly decoded: DecodedLine;
}

const CANDIDATES_MAX = 200;
/** Total bytes searched for the ends of candidates: in a torn line of many megabytes, every nested object is a candidate. */
const SCAN_BYTES_MAX = 256 * 1024 * 1024;
const OBJECT_START = Buffer.from('{"');

export function decodeLineParts(line: Buffer): LinePart[] {
  const whole = decodeLine(line);
  if (whole.kind !== 'damage') return [{ start: 0, end: line.length, decoded: whole }];
  const parts = salvage(line, whole);
  return parts.some((part) => part.decoded.kind !== 'damage')
    ? parts
    : [{ start: 0, end: line.length, decoded: whole }];
}

function salvage(line: Buffer, whole: DecodedLine & { kind: 'damage' }): LinePart[] {
  const parts: LinePart[] = [];
  let taken = 0;
  let from = line.indexOf(OBJECT_START, 0);
  let scanned = 0;
  for (let tries = 0; from >= 0 && tries < CANDIDATES_MAX && scanned < SCAN_BYTES_MAX; tries += 1) {
    const end = endOfObject(line, from);
    scanned += (end > 0 ? end : line.length) - from;
    const decoded = end > 0 && (from > 0 || end < line.length) ? decodeLine(line.subarray(from, end)) : whole;
    if (
      decoded.kind !== 'damage' &&
      isTrusted(decoded, isBlank(line.subarray(taken, from)), end === line.length)
    ) {
      if (!isBlank(line.subarray(taken, from))) parts.push({ start: taken, end: from, decoded: whole });
      parts.push({ start: from, end, decoded });
      taken = end;
      from = line.indexOf(OBJECT_START, end);
    } else {
      from = line.indexOf(OBJECT_START, from + 1);
    }
  }
  if (taken < line.length && !isBlank(line.subarray(taken))) {
    parts.push({ start: taken, end: line.length, decoded: whole });
  }
  return parts;
}

function isTrusted(decoded: DecodedLine, adjacent: boolean, reachesEnd: boolean): boolean {
  return (
    decoded.kind === 'header' ||
    (decoded.kind === 'record' && (decoded.crc !== null || adjacent || reachesEnd))
  );
}

/** Only white space, as editors leave it. */
export function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  return true;
}
