/** The storage ports: features use only these. Calls are async and reject with a `RekindleError`; bad arguments write nothing. */
import type { JsonObject, JsonValue } from '../core/json.js';
import type { Telemetry } from '../core/telemetry.js';
import type { StorageRedactor } from './storage-redactor.js';

/** A name in a store: segments such as `['agents', id, 'raw_traces']`. Different names never share storage. */
export type Name = readonly string[];

/** The position of a record. Opaque to callers; stays valid when its file is sealed. */
export interface Cursor {
  readonly segment: number;
  readonly offset: number;
}

/** The end of a journal. */
export interface JournalHead {
  /** Sequence number of the last record; 0 if there is none. */
  readonly seq: number;
  /** Position and checksum of that record; null if there is none, or if it has none. */
  readonly cursor: Cursor | null;
  readonly crc: string | null;
}

/** A record as it is read, with its place in the journal. */
export interface JournalRecord<R> {
  readonly kind: 'record';
  readonly seq: number;
  readonly record: R;
  readonly cursor: Cursor;
  /** Null for a line without a checksum (written by another tool), which is accepted as unverified. */
  readonly crc: string | null;
}

/** Bytes that are not a record: reported with their place, skipped, never rewritten. */
export interface JournalDamage {
  readonly kind: 'damage';
  readonly reason:
    | 'checksum'
    | 'not-json'
    | 'torn'
    | 'too-long' // a line of more than 128 MB
    | 'sequence-repeated'
    | 'sequence-gap'
    | 'after-seal'
    | 'missing-segment'
    | 'seal'; // in a sealed store: no holder of the key wrote it at this place
  /** The file or row that holds it, relative to the store. */
  readonly place: string;
  readonly cursor: Cursor;
  readonly bytes: number;
}

/** A record, or damage in its place; tell them apart by `kind`. */
export type JournalEntry<R> = JournalRecord<R> | JournalDamage;

/** Makes an append conditional. */
export interface AppendOptions {
  /** Reject with `JOURNAL_CONFLICT` unless this is the head's sequence number (compare-and-set). */
  readonly expectedSeq?: number;
}

/** The end of the journal after an append. */
export interface AppendResult {
  /** Sequence number of the last appended record. */
  readonly seq: number;
  readonly cursor: Cursor;
  readonly crc: string;
}

/** The part of a journal to read. Default: all records that are not archived. */
export interface ReadOptions {
  /** Start after this sequence number. */
  readonly after?: number;
  /** Start at this position, to skip reading what is before it. With `after`, it is the record `after + 1`. @throws INVALID_ARGUMENT */
  readonly cursor?: Cursor;
  readonly limit?: number;
  /** Include records that `archiveBefore` set aside. */
  readonly archived?: boolean;
}

/** A damaged file that was replaced by a clean copy. */
export interface SegmentRepair {
  readonly place: string;
  /** The new name of the damaged file. */
  readonly kept: string;
  /** Number of damaged ranges that were left out. */
  readonly ranges: number;
  readonly bytesBeyondSeal: number;
}

/**
 * An append-only list of records: the source of truth.
 *
 * Sequence numbers start at 1, have no gaps among acknowledged records, and are never reused. One `append` is all or nothing for the
 * caller. Concurrent calls keep their order and share one commit.
 */
export interface Journal<R extends JsonObject> {
  /**
   * Durable when it resolves, as far as the store's durability mode says.
   * @throws JOURNAL_CONFLICT, LEASE_LOST (nothing acknowledged), STORAGE_FULL and STORAGE_FAILED (nothing kept, the journal stays
   * usable), JOURNAL_OUTCOME_UNKNOWN (a sync failed), JOURNAL_CLOSED, INVALID_ARGUMENT (not a plain JSON object, too large, or with
   * one of the keys `_seq`, `_crc`, `_segment`, `_lost`)
   */
  append(records: readonly R[], options?: AppendOptions): Promise<AppendResult>;
  /** Reads forward from the start or a position. Sees at least everything that was durable at the call. */
  read(options?: ReadOptions): AsyncIterable<JournalEntry<R>>;
  /** From the newest record to the oldest. */
  readBackward(): AsyncIterable<JournalEntry<R>>;
  /** Reads only the end of the journal. */
  head(): Promise<JournalHead>;
  /** Damage that opening found at the end: a torn record, and where its bytes were set aside. */
  openingDamage(): readonly (JournalDamage & { readonly setAside?: string })[];
  /** Archives whole segments whose records all come before `seq`; `read` skips them by default. */
  archiveBefore(seq: number): Promise<void>;
  /** Like `archiveBefore`, but deletes what is archived: for histories of limited length. */
  removeBefore(seq: number): Promise<void>;
  /**
   * When it resolves, every record that can be read now is durable, even if a previous owner was killed before its sync. For code
   * that makes something else durable that relies on it; `append` does it by itself. @throws as `append`
   */
  secure(): Promise<void>;
  /** Replaces damaged files by clean copies and keeps the old ones. Never runs by itself. Empty if nothing is damaged. */
  repair(): Promise<SegmentRepair[]>;
  /**
   * Erases records for good, also archived ones. Damaged parts, cut-off tails and files kept by repairs are erased too, because they
   * may hold parts of the records. If records follow, the numbers stay in use; readers skip them. Complete when it resolves; can be
   * repeated after a crash. Returns how many there were. @throws LEASE_LOST, and JOURNAL_CLOSED for a reader
   */
  erase(seqs: readonly number[]): Promise<number>;
  /** Numbers continue after `seq` in an empty journal: for a copy without removed records. @throws JOURNAL_CONFLICT, and as `append` */
  continueAfter(seq: number): Promise<void>;
  /** Waits for appends in progress, then rejects new ones. */
  close(): Promise<void>;
}

/** How to open a journal. */
export interface JournalOptions {
  /** The right to write. Without one, the journal takes its own lease while it is open (or throws `LEASE_HELD`). */
  readonly lease?: Lease;
  /** Rejects writes and changes nothing on disk. */
  readonly readOnly?: boolean;
  /** Approximate bytes archived or removed at once, in backends that store in pieces. Default: the backend's. */
  readonly segmentBytes?: number;
}

/** `durable`: survives power loss once acknowledged. `cache`: may be lost, but torn content is detected. */
export type DocumentDurability = 'durable' | 'cache';

/** How to write a document. */
export interface DocumentWriteOptions {
  /** Reject with `DOCUMENT_CONFLICT` unless this is the stored version; null means "must not exist". */
  readonly ifVersion?: string | null;
  /** Default `durable`. */
  readonly durability?: DocumentDurability;
}

/** Small JSON documents and byte files, replaced atomically. The old content stays until the new one is complete. */
export interface Documents {
  /** Null if absent. @throws DOCUMENT_DAMAGED, STORAGE_FAILED, PATH_REFUSED */
  read(name: Name): Promise<{ readonly value: JsonValue; readonly version: string } | null>;
  write(name: Name, value: JsonValue, options?: DocumentWriteOptions): Promise<{ readonly version: string }>;
  readBytes(name: Name): Promise<Uint8Array | null>;
  /** For secrets stored as files: only this user may read or change it. Resolves if absent. @throws PATH_REFUSED */
  assertPrivate?(name: Name): Promise<void>;
  writeBytes(name: Name, bytes: Uint8Array, options?: DocumentWriteOptions): Promise<void>;
  /**
   * Keeps the first `offset` bytes and replaces the rest, in place and without sync: for a cache that ends in a checksum. A crash
   * may tear it, so the reader must check. @throws DOCUMENT_CONFLICT if the document is absent or shorter than `offset`
   */
  overwriteTail(name: Name, offset: number, bytes: Uint8Array): Promise<void>;
  /** When it was last written or placed, by anyone: milliseconds since 1970; null if absent. */
  modifiedMs(name: Name): Promise<number | null>;
  /** Moves a document to a free name next to it and returns that name's last segment; null if absent. */
  setAside(name: Name, label: string): Promise<string | null>;
  /** True if something was deleted. */
  delete(name: Name): Promise<boolean>;
  /** Last segments of the names directly under `prefix`, sorted. */
  list(prefix: Name): Promise<string[]>;
}

/** The name and size of stored bytes. */
export interface BlobInfo {
  /** SHA-256, lower-case hex. */
  readonly digest: string;
  readonly size: number;
}

/** A blob in a listing. */
export interface StoredBlob extends BlobInfo {
  /** When it was stored: milliseconds since 1970. */
  readonly storedMs: number;
}

/** Large bytes by their SHA-256. Equal bytes are stored once. */
export interface Blobs {
  /** Durable when it resolves. */
  put(bytes: Uint8Array): Promise<BlobInfo>;
  /** Null if absent. @throws BLOB_DAMAGED if the bytes do not match the digest. */
  get(digest: string): Promise<Uint8Array | null>;
  has(digest: string): Promise<boolean>;
  delete(digest: string): Promise<boolean>;
  /** In the order of the digests. */
  list(): AsyncIterable<StoredBlob>;
}

/** The process that holds a lease. */
export interface LeaseOwner {
  readonly pid: number;
  /** Start time of the process, so that a reused pid is not mistaken for the owner; null if unknown. */
  readonly processStart: string | null;
  readonly host: string;
  readonly nonce: string;
}

/** How to take a lease. */
export interface LeaseOptions {
  /** Lifetime without a heartbeat, in milliseconds. Default 15,000. Heartbeats are automatic, three per lifetime. */
  readonly ttlMs?: number;
  /**
   * Milliseconds to wait while another holds it. Default 0. Waiting calls of one process are served in order; so are processes of a
   * file store, by their first call; other stores guarantee no order. A call that does not wait may overtake waiting ones.
   */
  readonly waitMs?: number;
  /** Ends the wait with `ABORTED`; a lease that arrives at that moment is released. */
  readonly signal?: AbortSignal;
  /** Takes it over although its owner is alive, and fences that owner off. Only for use on a person's request. */
  readonly force?: boolean;
}

/**
 * The right to write. `fence` is a fencing token that grows with each owner. A lease that nobody took over stays valid, even after
 * the machine slept past `ttlMs`. A lease that was taken over is lost for good.
 */
export interface Lease {
  readonly fence: number;
  /** True if the previous owner did not release it. */
  readonly takenOver: boolean;
  /**
   * Owners up to this fence may still be alive: one of them did not release, and is not known to have ended. A journal file that one
   * of them may have open is sealed before the first append. 0: none. Each owner passes it on, so a release cannot hide it.
   */
  readonly unsafeFence: number;
  /** The last known state: false once released, or once the loss was noticed. */
  readonly held: boolean;
  /** Aborted, with a `LEASE_LOST` error as its reason, once the loss is noticed. Nothing is thrown from a timer. */
  readonly lost: AbortSignal;
  /** Resolves while the lease is held. `maxAgeMs` accepts a recent successful check. @throws LEASE_LOST, also after `release` */
  check(options?: { readonly maxAgeMs?: number }): Promise<void>;
  /** Sends a heartbeat. @throws LEASE_LOST */
  renew(): Promise<void>;
  release(): Promise<void>;
}

/** Exclusive rights to write, by name. Every writer must take the lease of its name first. */
export interface Leases {
  /**
   * Without `waitMs` it answers at once, with one exception: an owner on another machine or in another container whose heartbeat
   * looks old or comes from the future is watched for at most its `ttlMs`, by this process's own clock.
   * @throws LEASE_HELD with the owner in `details`; ABORTED; INVALID_ARGUMENT for an invalid `waitMs`
   */
  acquire(name: Name, options?: LeaseOptions): Promise<Lease>;
  /** The current holder; null if free. */
  inspect(
    name: Name,
  ): Promise<{ readonly fence: number; readonly owner: LeaseOwner; readonly alive: boolean } | null>;
  /** Names at and below a prefix that have, or had, an owner; sorted. */
  list(prefix: Name): Promise<Name[]>;
}

/** What a backend guarantees. */
export interface StorageCapabilities {
  /** Data survives the end of the process. */
  readonly persistent: boolean;
  /** Leases and fences work between processes. */
  readonly multiProcess: boolean;
  /** `ifVersion` works between processes. */
  readonly multiProcessDocuments: boolean;
}

/** A change that `watch` reports. */
export interface StorageChange {
  /** The name that changed, relative to the watched prefix. */
  readonly path: string;
}

/** What is stored under a name. */
export interface StoredName {
  readonly kind: 'journal' | 'document' | 'blobs';
  readonly name: Name;
}

/** What is stored at one place, including what `contents` leaves out. */
export interface StoredPlace {
  /** `aside`: set aside, damaged, unfinished, or of an unknown kind. */
  readonly kind: StoredName['kind'] | 'aside';
  /** For people: relative to the store, with `/`. */
  readonly place: string;
  /** Files, or rows. */
  readonly items: number;
  readonly bytes: number;
}

/** A store: journals, documents, blobs and leases in one place. */
export interface StorageBackend {
  /** Its location, for people: a folder, or a URL without its password. */
  readonly place: string;
  /** Journals and artifacts are stored without what it takes out. Null or absent: as they are given. */
  readonly redactor?: StorageRedactor | null;
  /** See `withTelemetry`. Null or absent: nothing is measured. */
  readonly telemetry?: Telemetry | null;
  /** For `withSealing`. Without this call, the first use of a sealed store throws `STORE_SEALED`. */
  allowSealed?(): void;
  readonly isSealed?: boolean;
  /** The folder of a tenant in the whole store, for wrappers that keep data outside of it. Empty or absent: no tenant. */
  readonly tenantPath?: Name;
  readonly capabilities: StorageCapabilities;
  openJournal<R extends JsonObject>(name: Name, options?: JournalOptions): Promise<Journal<R>>;
  /** Removes a journal with all its segments, under a lease that all its writers need. False if there was none. @throws LEASE_LOST */
  removeJournal(name: Name, lease: Lease): Promise<boolean>;
  readonly documents: Documents;
  blobs(scope: Name): Blobs;
  readonly leases: Leases;
  /** Segments directly under `prefix` that hold anything, decoded, sorted: for instance the agent ids under `['agents']`. */
  listNames(prefix: Name): Promise<string[]>;
  /** Journals that have or had records, documents, and scopes with blobs, below a prefix; sorted by name. No leases. */
  contents(prefix: Name): AsyncIterable<StoredName>;
  /** Everything below a prefix that takes space, in any order, without leases. Takes no lease. */
  places(prefix: Name): AsyncIterable<StoredPlace>;
  /**
   * Removes everything below a prefix for good: all that `places` lists. Leases stay, so that fences never decrease. Durable when it
   * resolves. After a crash, the next call continues. The caller holds every lease below the prefix. @throws LEASE_LOST
   */
  removeBelow(prefix: Name, lease: Lease): Promise<void>;
  /**
   * When it resolves, no file of the store contains bytes of removed data. What a database server keeps internally is out of scope.
   * `quick` covers only the log, which is enough for what this release wrote. @throws STORAGE_UNAVAILABLE while another process reads
   */
  scrub(options?: { readonly quick?: boolean }): Promise<void>;
  /**
   * Removes unfinished temporary files that crashes left directly under a name. Returns how many. Without `shared`, the caller holds
   * the lease of all writers. With it, only files of dead processes, or files that were not touched for a minute, are removed
   */
  sweep(scope: Name, options?: { readonly shared?: boolean }): Promise<number>;
  /** Calls back when something below `prefix` changes, in this process or another. The returned function stops it. */
  watch(prefix: Name, onChange: (change: StorageChange) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** When appends are acknowledged: `durable` after a sync, `batched` after one shared over some ms; `relaxed` survives only kill -9. */
export type DurabilityMode = 'durable' | 'batched' | 'relaxed';
