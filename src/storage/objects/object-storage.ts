/** The port for large, immutable-in-place bytes: a folder, a bucket, or a volume. Knows no journals and no locks. */
import type { Name } from '../ports.js';

export interface ObjectInfo {
  /** Bytes. */
  readonly size: number;
  /** When it was last put: milliseconds since 1970, often in whole seconds. */
  readonly modifiedMs: number;
}

export interface ObjectEntry extends ObjectInfo {
  /** Below the prefix, decoded. */
  readonly name: Name;
}

/**
 * Where an object lies: segments, each checked and encoded by `encodeNameSegment`, joined by `/`. A name is either an object or
 * stands above others, never both: a bucket could hold that, a folder could not.
 *
 * Every call rejects with INVALID_NAME or INVALID_ARGUMENT before anything is sent. Over a network also with STORAGE_FAILED (refused:
 * `details.status`), STORAGE_FULL, and STORAGE_UNAVAILABLE (after the retries; what was asked for may still take place).
 */
export interface ObjectStorage {
  /** Durable when it resolves; an object of that name is replaced as a whole. */
  put(name: Name, bytes: Uint8Array): Promise<void>;
  /**
   * Null when absent. Bytes are whole: a body shorter than its announced length, or that differs from its checksum where the
   * server gave one, is asked for again.
   */
  get(name: Name): Promise<Uint8Array | null>;
  /** Null when absent. */
  stat(name: Name): Promise<ObjectInfo | null>;
  /** True when something was there. */
  delete(name: Name): Promise<boolean>;
  /** Everything below a prefix, sorted by encoded name. Pages are followed. Names that no `put` could have made are left out. */
  list(prefix: Name): AsyncIterable<ObjectEntry>;
  /** The next segments, decoded and sorted, of everything below a prefix. Looks no deeper than it has to. */
  names(prefix: Name): Promise<string[]>;
  /** Frees connections; the last call. */
  close(): Promise<void>;
}
