/** The port for large, immutable objects: a folder, a bucket, or a volume. It has no journals and no locks. */
import type { Name } from '../ports.js';

/** Facts about a stored object. */
export interface ObjectInfo {
  /** In bytes. */
  readonly size: number;
  /** When it was last put: milliseconds since 1970, often with a resolution of whole seconds. */
  readonly modifiedMs: number;
}

/** An object in a listing. */
export interface ObjectEntry extends ObjectInfo {
  /** Relative to the prefix, decoded. */
  readonly name: Name;
}

/**
 * The port of an object store. A name is a list of segments, each checked and encoded by `encodeNameSegment`, joined by
 * `/`. A name is either an object or a prefix of others, never both: a bucket could hold both, a folder could not.
 *
 * Every call rejects with INVALID_NAME or INVALID_ARGUMENT before anything is sent. Remote stores also reject with
 * STORAGE_FAILED (refused: `details.status`), STORAGE_FULL, and STORAGE_UNAVAILABLE (after the retries; the request may
 * still take effect).
 */
export interface ObjectStorage {
  /** Durable when it resolves. Replaces an existing object atomically. */
  put(name: Name, bytes: Uint8Array): Promise<void>;
  /**
   * Null if absent. Bytes are complete: a body that is shorter than its announced length, or that does not match the
   * server's checksum, is requested again.
   */
  get(name: Name): Promise<Uint8Array | null>;
  /** Null if absent. */
  stat(name: Name): Promise<ObjectInfo | null>;
  /** True if an object was deleted. */
  delete(name: Name): Promise<boolean>;
  /** Everything below a prefix, sorted by encoded name. Reads all pages. Leaves out names that `put` cannot have made. */
  list(prefix: Name): AsyncIterable<ObjectEntry>;
  /** The next segments, decoded and sorted, of everything below a prefix. Reads no deeper than necessary. */
  names(prefix: Name): Promise<string[]>;
  /** Releases connections. Must be the last call. */
  close(): Promise<void>;
}
