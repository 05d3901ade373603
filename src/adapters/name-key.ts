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
  return isSegment(id) ? id : digestKey(id);
}

/**
 * As `nameKey`, for texts such as `subagents/agent-1`: `:` stands for `/`, so that the text can be read from the name. A
 * text that has a `:` itself becomes a digest.
 */
export function pathKey(path: string): string {
  const segment = path.replaceAll('/', ':');
  return !path.includes(':') && isSegment(segment) ? segment : digestKey(path);
}

/** The text of a key, or null if the key is a digest. */
export function pathOfKey(key: string): string | null {
  return isDigest(key) ? null : key.replaceAll(':', '/');
}

export function isDigest(key: string): boolean {
  return key.startsWith('~');
}

function digestKey(id: string): string {
  return `~${createHash('sha256').update(id, 'utf16le').digest('hex')}`;
}

function isSegment(id: string): boolean {
  if (id.startsWith('~')) return false;
  try {
    encodeNameSegment(id);
    return true;
  } catch (thrown) {
    if (isRekindleError(thrown, 'INVALID_NAME')) return false;
    throw thrown;
  }
}
