/** Where a sealed store keeps its keys, and which key belongs to a name. */
import { RekindleError } from '../../core/errors.js';
import type { Name } from '../ports.js';

/** The first segment of everything that the sealing itself stores. Its contents are hidden from features. */
export const SEALING = 'sealing';
/** States that the store is sealed, and holds a wrapped key that identifies the master key. */
export const STORE_DOCUMENT: Name = [SEALING, 'store.json'];
/** Below a scope of blobs: the sealed blobs. */
export const SEALED_BLOBS = 'sealed_blobs';

/**
 * The names that share a data key: everything of one agent, else of one session, thread or document folder. Erasing the agent
 * destroys the key.
 */
export function keyScopeOf(name: Name): Name {
  const start = name[0] === 'tenants' ? 2 : 0;
  const agents = name.indexOf('agents', start);
  if (agents >= 0 && agents < start + 2 && name.length > agents + 2) return name.slice(0, agents + 2);
  return name.slice(0, Math.max(1, Math.min(start + 2, name.length - 1)));
}

/** The document with the keys of a scope. The length is part of the name, so that no document lies above another. */
export function keyDocumentOf(scope: Name): Name {
  return [SEALING, `keys-${scope.length}`, ...scope, 'keys.json'];
}

/** Folders with the keys of all scopes at and below a name. */
export function keyFoldersBelow(prefix: Name): Name[] {
  return [1, 2, 3, 4, 5]
    .filter((length) => length >= prefix.length)
    .map((length) => [SEALING, `keys-${length}`, ...prefix]);
}

/** A sealed store must not be written plain, and cannot be read without its keys. */
export function storeSealed(place: string): RekindleError {
  return new RekindleError('STORE_SEALED', `The store ${place} is sealed, and was opened without keys.`, {
    details: { place },
  });
}
