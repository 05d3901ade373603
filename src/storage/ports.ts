/**
 * The storage ports. Every feature is written against these and knows no backend; the conformance suite in
 * `rekindle/testing` holds each backend to them.
 *
 * All calls are async and reject with a `RekindleError`. An argument is checked before anything is written.
 */
import type { JsonObject, JsonValue } from '../core/json.js';

/**
 * A name inside a store: one or more segments, such as `['agents', id, 'raw_traces']`. Each segment is any
 * text that `encodeNameSegment` accepts; different names never share storage.
 */
export type Name = readonly string[];

/** Where a record starts. Opaque to callers; stays valid when its file is sealed. */
export interface Cursor {
  readonly segment: number;
  readonly offset: number;
}

export interface JournalHead {
  /** Sequence number of the last record; 0 when there is none. */
  readonly seq: number;
  /** Where that record starts, and its checksum; null when there is none or it carries none. */
  readonly cursor: Cursor | null;
  readonly crc: string | null;
}

export interface JournalRecord<R> {
  readonly kind: 'record';
  readonly seq: number;
  readonly record: R;
  readonly cursor: Cursor;
  /** Null for a line without a checksum (written by another tool): accepted as unverified. */
  readonly crc: string | null;
}

/** Bytes that are no record: reported with their place, skipped, never rewritten. */
export interface JournalDamage {
  readonly kind: 'damage';
  readonly reason:
    | 'checksum'
    | 'not-json'
    | 'torn'
    /** A line of more than 128 MB. */
    | 'too-long'
    | 'sequence-repeated'
    | 'sequence-gap'
    | 'after-seal'
    | 'missing-segment';
  /** The file or row that holds it, relative to the store. */
  readonly place: string;
  readonly cursor: Cursor;
  readonly bytes: number;
}

export type JournalEntry<R> = JournalRecord<R> | JournalDamage;

export interface AppendOptions {
  /** Refuse with `JOURNAL_CONFLICT` unless this is the head's sequence number. */
  readonly expectedSeq?: number;
}

export interface AppendResult {
  /** Of the last record appended. */
  readonly seq: number;
  readonly cursor: Cursor;
  readonly crc: string;
}

export interface ReadOptions {
  /** Start after this sequence number. */
  readonly after?: number;
  /**
   * Start at the record at this place: a short cut that saves reading what lies before it. With `after`, that record is the
   * one numbered `after + 1`. @throws INVALID_ARGUMENT when its segment is not there
   */
  readonly cursor?: Cursor;
  readonly limit?: number;
  /** Also what `archiveBefore` set aside. */
  readonly archived?: boolean;
}

/** A clean copy that took the place of a damaged file. */
export interface SegmentRepair {
  readonly place: string;
  /** The name that the damaged file has now. */
  readonly kept: string;
  /** Damaged ranges that were left out. */
  readonly ranges: number;
  readonly bytesBeyondSeal: number;
}

/**
 * An append-only list of records: the truth.
 *
 * Sequence numbers start at 1, are contiguous in what was acknowledged, and are never reused. One call of
 * `append` is all or nothing for the caller; concurrent calls keep their order and share one commit.
 */
export interface Journal<R extends JsonObject> {
  /**
   * Durable when it resolves, as far as the store's durability mode says.
   * @throws JOURNAL_CONFLICT, LEASE_LOST (nothing acknowledged), STORAGE_FULL and STORAGE_FAILED (nothing
   * kept, the journal stays usable), JOURNAL_OUTCOME_UNKNOWN (a sync failed), JOURNAL_CLOSED,
   * INVALID_ARGUMENT (a record that is no plain JSON object, too large, or has one of the keys `_seq`,
   * `_crc`, `_segment`, `_lost`).
   */
  append(records: readonly R[], options?: AppendOptions): Promise<AppendResult>;
  /** Forward from the start, or from a place. Sees what was durable when it was called, perhaps more. */
  read(options?: ReadOptions): AsyncIterable<JournalEntry<R>>;
  /** From the newest record to the oldest. */
  readBackward(): AsyncIterable<JournalEntry<R>>;
  /** What opening found and did; see `JournalDamage`. Costs no more than a look at the end of the journal. */
  head(): Promise<JournalHead>;
  /** Damage that opening met at the end: a torn record, with where its bytes were set aside. */
  openingDamage(): readonly (JournalDamage & { readonly setAside?: string })[];
  /** Sets aside whole segments whose records all come before `seq`; `read` skips them unless told otherwise. */
  archiveBefore(seq: number): Promise<void>;
  /** As `archiveBefore`, and deletes what is set aside: for histories that are bounded. */
  removeBefore(seq: number): Promise<void>;
  /**
   * When it resolves, every record that can be read now is durable: also what an owner before was killed over, before its sync. For
   * those who make something else durable that relies on it; `append` does it by itself. @throws as `append`
   */
  secure(): Promise<void>;
  /** On request only: replaces damaged files by clean copies and keeps the old ones. Empty when nothing is damaged. */
  repair(): Promise<SegmentRepair[]>;
  /**
   * Takes records away for good, also archived ones, and what is damaged with them: it may hold parts of theirs. What was cut off, or kept
   * by a repair, goes too. Their numbers stay taken, where records follow; reading passes over them as after a repair. Done once it
   * resolves; asked again after a crash it goes on. How many there were.
   * @throws LEASE_LOST, and JOURNAL_CLOSED for a reader
   */
  erase(seqs: readonly number[]): Promise<number>;
  /**
   * For a copy of a journal whose first records were removed: the numbers go on after `seq`, as if those before had been here and were
   * removed. @throws JOURNAL_CONFLICT when it has, or had, records; and as `append`
   */
  continueAfter(seq: number): Promise<void>;
  /** Waits for appends under way, then refuses new ones. */
  close(): Promise<void>;
}

export interface JournalOptions {
  /** The right to write. Without one the journal takes a lease of its own while it is open (`LEASE_HELD` when it cannot). */
  readonly lease?: Lease;
  /** Refuse to write, and touch nothing. */
  readonly readOnly?: boolean;
  /** About how many bytes are set aside or removed at once, where the backend stores in pieces. Default: the backend's. */
  readonly segmentBytes?: number;
}

/** `durable`: survives power loss when acknowledged. `cache`: may be lost, is never torn unnoticed. */
export type DocumentDurability = 'durable' | 'cache';

export interface DocumentWriteOptions {
  /** Refuse with `DOCUMENT_CONFLICT` unless the stored version is this; null means "must not exist". */
  readonly ifVersion?: string | null;
  /** Default `durable`. */
  readonly durability?: DocumentDurability;
}

/** Small JSON documents and byte files, replaced as a whole. The old content stands until the new one is complete. */
export interface Documents {
  /** Null when absent. @throws DOCUMENT_DAMAGED, STORAGE_FAILED, PATH_REFUSED */
  read(name: Name): Promise<{ readonly value: JsonValue; readonly version: string } | null>;
  write(name: Name, value: JsonValue, options?: DocumentWriteOptions): Promise<{ readonly version: string }>;
  readBytes(name: Name): Promise<Uint8Array | null>;
  /** For secrets, where documents are files: nobody but this user may read or change it. Resolves when absent. @throws PATH_REFUSED */
  assertPrivate?(name: Name): Promise<void>;
  writeBytes(name: Name, bytes: Uint8Array, options?: DocumentWriteOptions): Promise<void>;
  /**
   * Keeps the first `offset` bytes and replaces the rest, in place and without sync: for a cache that ends in
   * a checksum. May be torn by a crash, so the reader must check. @throws DOCUMENT_CONFLICT when the document
   * is absent or shorter than `offset`.
   */
  overwriteTail(name: Name, offset: number, bytes: Uint8Array): Promise<void>;
  /** When it was last written or put in its place, by us or by anyone else: milliseconds since 1970; null when absent. */
  modifiedMs(name: Name): Promise<number | null>;
  /** Moves a document to a free name beside it and returns that name's last segment; null when absent. */
  setAside(name: Name, label: string): Promise<string | null>;
  /** True when something was deleted. */
  delete(name: Name): Promise<boolean>;
  /** Last segments of the names directly under `prefix`, sorted. */
  list(prefix: Name): Promise<string[]>;
}

export interface BlobInfo {
  /** SHA-256, lower-case hex. */
  readonly digest: string;
  readonly size: number;
}

/** A blob in a list. */
export interface StoredBlob extends BlobInfo {
  /** When it was stored: milliseconds since 1970. */
  readonly storedMs: number;
}

/** Large bytes by their SHA-256. Equal bytes are stored once. */
export interface Blobs {
  /** Durable when it resolves. */
  put(bytes: Uint8Array): Promise<BlobInfo>;
  /** Null when absent. @throws BLOB_DAMAGED when the bytes do not match the digest. */
  get(digest: string): Promise<Uint8Array | null>;
  has(digest: string): Promise<boolean>;
  delete(digest: string): Promise<boolean>;
  /** By digest. */
  list(): AsyncIterable<StoredBlob>;
}

export interface LeaseOwner {
  readonly pid: number;
  /** When the process started, so that a reused pid is not taken for the owner; null when unknown. */
  readonly processStart: string | null;
  readonly host: string;
  readonly nonce: string;
}

export interface LeaseOptions {
  /** Life without a heartbeat. Default 15 s. The heartbeat runs by itself at a third of it. */
  readonly ttlMs?: number;
  /**
   * How long to wait for it while it is held, in milliseconds. Default 0. Those who wait in one process get it in the order of their
   * calls; between processes of a file store in the order in which their first callers came, elsewhere in no order. A caller that does
   * not wait takes a free lease past those who do.
   */
  readonly waitMs?: number;
  /** Ends the wait with `ABORTED`; a lease that came at that moment is released. */
  readonly signal?: AbortSignal;
  /** Takes it over although its owner is alive, and fences that owner off: on a person's word only. */
  readonly force?: boolean;
}

/**
 * The right to write. `fence` grows with each owner. A lease that nobody took over stays good, also after
 * the machine slept past `ttlMs`; one that was taken over is lost for ever.
 */
export interface Lease {
  readonly fence: number;
  /** True when the owner before did not release. */
  readonly takenOver: boolean;
  /**
   * Owners up to this fence may still be alive, because one of them did not release. A journal file that one of them may have
   * open is sealed before the first append. 0: none. It is handed on from owner to owner, so a release cannot hide it.
   */
  readonly unsafeFence: number;
  /** What is known without asking the store: false once released, or once the loss was noticed. */
  readonly held: boolean;
  /** Aborted, with a `LEASE_LOST` error as its reason, once the loss is noticed. Nothing is thrown from a timer. */
  readonly lost: AbortSignal;
  /**
   * Resolves while the lease is held. With `maxAgeMs`, a check that succeeded so recently counts: for what is only a cache.
   * @throws LEASE_LOST, also after `release`
   */
  check(options?: { readonly maxAgeMs?: number }): Promise<void>;
  /** A heartbeat by hand. @throws LEASE_LOST */
  renew(): Promise<void>;
  release(): Promise<void>;
}

export interface Leases {
  /**
   * Without `waitMs` it answers at once, but for an owner that is out of sight (another machine or container) and whose heartbeat
   * looks old or comes from the future: that one is watched for at most its `ttlMs`, by this process's own clock.
   * @throws LEASE_HELD with the owner in `details`; ABORTED; INVALID_ARGUMENT for a `waitMs` that is none
   */
  acquire(name: Name, options?: LeaseOptions): Promise<Lease>;
  /** Who holds it now; null when free. */
  inspect(
    name: Name,
  ): Promise<{ readonly fence: number; readonly owner: LeaseOwner; readonly alive: boolean } | null>;
  /** Names at and below a prefix that have, or had, an owner; sorted. */
  list(prefix: Name): Promise<Name[]>;
}

export interface StorageCapabilities {
  /** Survives the end of the process. */
  readonly persistent: boolean;
  /** Leases and fences hold between processes. */
  readonly multiProcess: boolean;
  /** `ifVersion` holds between processes. */
  readonly multiProcessDocuments: boolean;
}

export interface StorageChange {
  /** The name that changed, relative to the watched prefix. */
  readonly path: string;
}

/** What is stored under a name. */
export interface StoredName {
  readonly kind: 'journal' | 'document' | 'blobs';
  readonly name: Name;
}

/** What is stored at one place, with all that `contents` passes over. */
export interface StoredPlace {
  /** `aside`: set aside, damaged, unfinished, or of no kind that is known. */
  readonly kind: StoredName['kind'] | 'aside';
  /** For people: relative to the store, with `/`. */
  readonly place: string;
  /** Files, or rows. */
  readonly items: number;
  readonly bytes: number;
}

/** One place that keeps everything durable. */
/** Takes sensitive text out of what is stored. Idempotent; gives the same value when there is nothing to take. */
export interface StorageRedactor {
  /** @throws SENSITIVE_DATA where a kind may not be stored at all */
  json<T extends JsonValue>(value: T): T;
  /** @throws SENSITIVE_DATA */
  text(text: string): string;
}

export interface StorageBackend {
  /** Where it is, for people: a folder, or a URL without its password. */
  readonly place: string;
  /**
   * Null or absent: everything is stored as it is given. Otherwise journals and artifacts are stored without what it takes out. Code
   * that keeps a record in memory beside the journal passes the record through it first, so that both are the same.
   */
  readonly redactor?: StorageRedactor | null;
  readonly capabilities: StorageCapabilities;
  openJournal<R extends JsonObject>(name: Name, options?: JournalOptions): Promise<Journal<R>>;
  /** Takes a journal away, with all its segments, under a lease that every writer of it needs. False when there was none. @throws LEASE_LOST */
  removeJournal(name: Name, lease: Lease): Promise<boolean>;
  readonly documents: Documents;
  blobs(scope: Name): Blobs;
  readonly leases: Leases;
  /** Segments directly under `prefix` that hold anything, decoded, sorted: for instance the agent ids under `['agents']`. */
  listNames(prefix: Name): Promise<string[]>;
  /** Every journal that has, or had, records, every document, and every scope that has blobs, below a prefix; sorted by name. Leases are not told. */
  contents(prefix: Name): AsyncIterable<StoredName>;
  /** Everything below a prefix that takes room, in no order; leases are not told. Takes no lease. */
  places(prefix: Name): AsyncIterable<StoredPlace>;
  /**
   * Takes away everything below a prefix, for good: all that `places` tells. Leases stay, so that the numbers of owners never go back.
   * Durable when it resolves; a crash leaves a part of it, and the next call goes on.
   * @param lease held by the caller, together with every lease below the prefix: those who write there must not come back @throws LEASE_LOST
   */
  removeBelow(prefix: Name, lease: Lease): Promise<void>;
  /**
   * When it resolves, no file of the store holds bytes of what was removed: for backends that keep them for a while. What a database
   * server keeps for itself is its own. With `quick` what lies in the log only; enough where this release wrote and removed it.
   * @throws STORAGE_UNAVAILABLE while another process reads
   */
  scrub(options?: { readonly quick?: boolean }): Promise<void>;
  /**
   * Removes what crashes left behind directly under a name: unfinished temporary files. How many.
   * @param options without `shared`, the caller holds the lease of all who write there; with it, others may be at work, and only what
   * a process that is gone left, or nobody touched for a minute, is removed
   */
  sweep(scope: Name, options?: { readonly shared?: boolean }): Promise<number>;
  /** Calls back when something below `prefix` changes, by this process or another; the returned function ends it. */
  watch(prefix: Name, onChange: (change: StorageChange) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** How an acknowledgement is earned. `durable`: sync before it. `batched`: the same, gathered over some milliseconds. `relaxed`: survives kill -9 only. */
export type DurabilityMode = 'durable' | 'batched' | 'relaxed';
