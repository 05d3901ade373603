/** Ids that other libraries choose, as one segment of a name: theirs may be any text, ours may not. */
import { createHash } from 'node:crypto';
import { isRekindleError } from '../core/errors.js';
import { encodeNameSegment } from '../storage/name-encoding.js';

/**
 * The id itself where it can be a segment and does not begin with `~`; else `~` and the SHA-256 of its UTF-16 code units (little
 * endian), in hex. Not of its UTF-8: lone surrogates are all the same there. Different ids have different keys.
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
