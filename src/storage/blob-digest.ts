/** The name of a blob: the SHA-256 of its bytes, in lower-case hex. */
import { createHash } from 'node:crypto';
import { RekindleError } from '../core/errors.js';

const DIGEST = /^[0-9a-f]{64}$/;

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** @throws INVALID_ARGUMENT */
export function assertDigest(digest: string): string {
  if (typeof digest === 'string' && isDigest(digest)) return digest;
  throw new RekindleError('INVALID_ARGUMENT', 'A digest is 64 lower-case hex digits.', {
    details: { digest: String(digest).slice(0, 80) },
  });
}
