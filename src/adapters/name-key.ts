/** Turns ids of other libraries, which may be any text, into valid name segments. */
import { createHash } from 'node:crypto';
import { isRekindleError } from '../core/errors.js';
import { encodeNameSegment } from '../storage/name-encoding.js';

/**
 * The id itself if it is a valid segment and does not begin with `~`. Else `~` and the SHA-256 of its UTF-16
 * code units (little endian), in hex; UTF-8 would merge all lone surrogates. Different ids have different
 * keys.
 */
export function nameKey(id: string): string {
  if (!id.startsWith('~') && isSegment(id)) return id;
  return `~${createHash('sha256').update(id, 'utf16le').digest('hex')}`;
}

function isSegment(id: string): boolean {
  try {
    encodeNameSegment(id);
    return true;
  } catch (thrown) {
    if (isRekindleError(thrown, 'INVALID_NAME')) return false;
    throw thrown;
  }
}
