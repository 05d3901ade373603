/**
 * AES-256-GCM over whole values. Layout: `nonce (12 bytes)
 * ciphertext
 * tag (16 bytes)`.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export const KEY_BYTES = 32;
/** 96 random bits, the only nonce length that GCM uses directly. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Without it, Node 20 accepts a tag of 4 bytes. */
const OPTIONS = { authTagLength: TAG_BYTES } as const;
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES;

/** @param bound the context of the bytes: opening requires the same text */
export function seal(key: Uint8Array, plain: Uint8Array, bound: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, OPTIONS);
  cipher.setAAD(Buffer.from(bound, 'utf8'));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Null if the key or the context differs, or the bytes were changed. */
export function open(key: Uint8Array, sealed: Uint8Array, bound: string): Buffer | null {
  if (sealed.length < SEAL_BYTES) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), OPTIONS);
  decipher.setAAD(Buffer.from(bound, 'utf8'));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return null; // unauthenticated plaintext is never returned
  }
}
