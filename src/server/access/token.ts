/**
 * The server's own bearer token: generated once, stored in a file of mode 0600 below the base folder,
 * compared in constant time.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { isJsonObject } from '../../core/json.js';
import type { StorageBackend } from '../../storage/ports.js';

const NAME = ['server', 'token.json'];
const TOKEN_LENGTH_MIN = 16;

/** The owner's token of a server. */
export interface ServerToken {
  readonly token: string;
  /** True if it was generated just now. Show it, because it is not shown again. */
  readonly isNew: boolean;
  /** False on a read-only disk: the token is valid for this process only. */
  readonly isStored: boolean;
}

/** Error codes of a read-only disk. A full disk is another case: it may soon have room again. */
const READ_ONLY: readonly unknown[] = ['EROFS', 'EACCES', 'EPERM'];

/**
 * The stored token, or a new one. @throws DOCUMENT_DAMAGED; PATH_REFUSED for a file of another user, or one
 * that others can read or change
 */
export async function loadServerToken(backend: StorageBackend): Promise<ServerToken> {
  await backend.documents.assertPrivate?.(NAME);
  const stored = await backend.documents.read(NAME);
  if (stored === null) {
    const token = randomBytes(24).toString('base64url');
    try {
      await backend.documents.write(NAME, { token }, { ifVersion: null });
      return { token, isNew: true, isStored: true };
    } catch (thrown) {
      if (isRekindleError(thrown, 'STORAGE_FAILED') && READ_ONLY.includes(thrown.details['errno']))
        return { token, isNew: true, isStored: false };
      if (!isRekindleError(thrown, 'DOCUMENT_CONFLICT')) throw thrown;
      return loadServerToken(backend); // another server was faster
    }
  }
  const token = isJsonObject(stored.value) ? stored.value['token'] : undefined;
  if (typeof token === 'string' && token.length >= TOKEN_LENGTH_MIN)
    return { token, isNew: false, isStored: true };
  throw new RekindleError('DOCUMENT_DAMAGED', `${NAME.join('/')} does not contain a token.`, {
    details: { name: NAME },
  });
}

/** @throws INVALID_ARGUMENT */
export function assertToken(token: string): void {
  if (typeof token === 'string' && token.length >= TOKEN_LENGTH_MIN && /^[\x21-\x7e]+$/.test(token)) return;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `A token must have at least ${TOKEN_LENGTH_MIN} characters and no spaces.`,
    { details: { field: 'token' } },
  );
}

/**
 * Compares with the token of this digest. Takes the same time for every wrong token, whatever its beginning
 * and length.
 */
export function isSameToken(given: string, digest: Buffer): boolean {
  return timingSafeEqual(tokenDigest(given), digest);
}

export function tokenDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
