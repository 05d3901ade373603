/** The port for objects: a folder, a bucket, or a volume. It has no journals and no locks. */
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
  /** Differs after each change of the object; undefined if the listing has none. */
  readonly version?: string;
}

/** An object with what a conditional write needs. */
export interface VersionedObject {
  readonly bytes: Uint8Array;
  /** For `ifMatch`. */
  readonly version: string;
  /** Milliseconds since it was written, by the clock of the store; null if the store gives no time. */
  readonly ageMs: number | null;
}

/** What must be true for a write. With neither, the object is replaced, or created. */
export interface WriteCondition {
  /** The object must not exist. */
  readonly ifAbsent?: true;
  /** The object must have this version. */
  readonly ifMatch?: string;
}

/** Compare-and-set on single objects, also between machines. */
export interface ConditionalObjects {
  /** Null if absent. */
  read(name: Name): Promise<VersionedObject | null>;
  /**
   * Atomic, and durable when it resolves. Returns the new version; null if the condition was false, and then nothing was written.
   * A write whose answer was lost is looked up: it is never reported as refused if it was stored.
   * @throws STORAGE_UNAVAILABLE if the outcome is not known after all retries
   */
  writeIf(name: Name, bytes: Uint8Array, condition: WriteCondition): Promise<string | null>;
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
  /** Absent in stores that cannot compare and set. */
  readonly conditional?: ConditionalObjects;
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
