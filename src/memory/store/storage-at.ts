/** The storage of a store: a backend that its caller closes, or one that the store opens and closes itself. */
import { resolveMemoryBaseDir } from '../../storage/memory-base-dir.js';
import { openStorage } from '../../storage/open-storage.js';
import type { StorageBackend } from '../../storage/ports.js';

export interface StorageAt {
  readonly backend: StorageBackend;
  /** True if this call opened the backend: then the caller closes it. */
  readonly isOwn: boolean;
}

/** @param place a folder or address, as `openStorage` takes it, or an open backend. Does no I/O. @throws INVALID_ARGUMENT */
export function storageAt(place: StorageBackend | string): StorageAt {
  if (typeof place !== 'string') return { backend: place, isOwn: false };
  return { backend: openStorage(resolveMemoryBaseDir(place)), isOwn: true };
}
