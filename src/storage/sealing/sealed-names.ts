/** Where a sealed store keeps its keys, and which key belongs to a name. */
import { RekindleError } from '../../core/errors.js';
import type { Name } from '../ports.js';

/** The first segment of everything that the sealing itself stores. Its contents are hidden from features. */
export const SEALING = 'sealing';
/** The wrapped key of the store. It exists in a sealed store only. */
export const STORE_DOCUMENT: Name = [SEALING, 'store.json'];
/** The last segment of the document with the data key of a scope. */
export const KEY = 'key.json';
/** Below a scope of blobs: the sealed blobs. */
export const SEALED_BLOBS = 'sealed_blobs';

/**
 * The names that share a data key: everything of one agent, session or thread, else of one folder of documents. Erasing the agent, session
 * or thread destroys the key.
 */
export function keyScopeOf(name: Name): Name {
  let start = 0;
  while (name[start] === 'tenants' && name.length > start + 2) start += 2;
  const agents = name.indexOf('agents', start);
  if (agents >= 0 && agents < start + 2 && name.length > agents + 2) return name.slice(0, agents + 2);
  return name.slice(0, Math.max(1, Math.min(start + 3, name.length - 1)));
}

/** The folder with the keys of scopes of a length. The length is in the name, so that no document is above another. */
export function keyFolderOf(length: number): Name {
  return [SEALING, `keys-${length}`];
}

export function keyDocumentOf(scope: Name): Name {
  return [...keyFolderOf(scope.length), ...scope, KEY];
}

/** The scope of the key in this document. Empty for the key of the store. */
export function scopeOfKey(document: Name): Name {
  return document.slice(2, -1);
}

/** Null if the name is not a folder of keys. */
export function keyLengthOf(folder: string): number | null {
  const digits = /^keys-(\d{1,3})$/.exec(folder)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** @throws INVALID_NAME: features must not reach what the sealing itself stores */
export function assertNotSealing(name: Name): void {
  if (name[0] !== SEALING) return;
  throw new RekindleError('INVALID_NAME', `The name ${name.join('/')} belongs to the sealing of the store.`, {
    details: { name: [...name] },
  });
}

/** A sealed store must not be written plain, and cannot be read without its keys. */
export function storeSealed(place: string): RekindleError {
  return new RekindleError('STORE_SEALED', `The store ${place} is sealed, and was opened without keys.`, {
    details: { place },
  });
}
