/** A name as one text, for backends that look up by key: its segments, each encoded, joined by `/`. */
import { RekindleError } from '../core/errors.js';
import { decodeNameSegment, encodeNameSegment } from './name-encoding.js';
import type { Name } from './ports.js';

/** Injective: a segment cannot contain the separator. @throws INVALID_ARGUMENT, INVALID_NAME */
export function keyOf(name: Name): string {
  if (name.length === 0) throw new RekindleError('INVALID_ARGUMENT', 'A name needs at least one segment.');
  return name.map(encodeNameSegment).join('/');
}

export function nameOf(key: string): string[] {
  return key.split('/').map(segmentOf);
}

/** The segment of its encoded form. */
export function segmentOf(encoded: string): string {
  return decodeNameSegment(encoded) ?? encoded;
}

/** Keys below a prefix: they begin with `start` and, compared by bytes, come before `end`. */
export interface KeyRange {
  readonly start: string;
  readonly end: string;
}

/** `0` follows `/`, and `~` follows every character of a key. */
export function rangeBelow(prefix: Name): KeyRange {
  if (prefix.length === 0) return { start: '', end: '~' };
  const key = keyOf(prefix);
  return { start: `${key}/`, end: `${key}0` };
}
