/**
 * What a SQL engine does for a backend: a fixed list of operations, each one transaction. The classes in this folder
 * implement the storage ports with them. An engine knows SQL, and no contract beyond this file.
 *
 * Keys are names as `keyOf` writes them. A lease is checked inside the transaction that writes under it.
 */
import type { KeyRange } from '../name-key.js';
import type { StoredPlace } from '../ports.js';

export interface LeaseRef {
  readonly key: string;
  readonly fence: number;
}

export interface LeaseRow {
  readonly fence: number;
  /** `LeaseOwner` as JSON text. */
  readonly owner: string;
  readonly released: boolean;
  /** Identifies the heartbeat. */
  readonly beatMs: number;
  readonly ageMs: number;
  readonly ttlMs: number;
}

/** A stream is the stored form of a journal. */
export interface StreamHead {
  readonly seq: number;
  readonly crc: string | null;
  /** Records up to this number are archived; up to `removedTo` they are removed. */
  readonly archivedTo: number;
  readonly removedTo: number;
}

/** Of a stream without records. */
export const EMPTY_HEAD: StreamHead = { seq: 0, crc: null, archivedTo: 0, removedTo: 0 };

export interface NewRecord {
  readonly crc: string;
  /** The whole JSON text. */
  readonly body: Uint8Array;
}

export interface StoredRecord {
  readonly seq: number;
  readonly crc: string;
  /** Null if a repair removed a damaged record. */
  readonly body: Uint8Array | null;
}

export interface RecordPage {
  readonly head: StreamHead | null;
  readonly records: readonly StoredRecord[];
  /** No more records follow in the reading direction. */
  readonly last: boolean;
}

export interface StoredBytes {
  readonly bytes: Uint8Array;
}

export interface BlobRow {
  readonly digest: string;
  readonly size: number;
  readonly storedMs: number;
}

/** Has the key in place of the name. */
export type PlaceRow = readonly [kind: StoredPlace['kind'], key: string, items: number, bytes: number];

interface Timed {
  /** Null for the engine's own clock, which all users of the store share; tests pass their own time. */
  readonly nowMs: number | null;
}

export interface SqlOperations {
  readLease(request: { readonly key: string } & Timed): LeaseRow | null;
  /**
   * True if the caller now has the lease: no other took it since `seen` was read. Fences off everything that was
   * written under it before.
   */
  takeLease(
    request: {
      readonly key: string;
      readonly seen: Pick<LeaseRow, 'fence' | 'beatMs'> | null;
      readonly owner: string;
      readonly ttlMs: number;
    } & Timed,
  ): boolean;
  holdsLease(request: LeaseRef): boolean;
  /** Every key of a lease below, and the key of the range itself. */
  listLeases(request: KeyRange): readonly string[];
  /** False if it was taken over. */
  beatLease(request: LeaseRef & Timed): boolean;
  releaseLease(request: LeaseRef): void;

  readHead(request: { readonly key: string }): StreamHead | null;
  /** Binds a stream to the lease under which it is written from now on. */
  openStream(request: { readonly key: string; readonly lease: LeaseRef }): StreamHead | 'fenced';
  append(request: {
    readonly key: string;
    readonly lease: LeaseRef;
    readonly expectedSeq: number;
    readonly records: readonly NewRecord[];
    /** Stored with the first record: if an answer was lost, it shows whether the append took effect. */
    readonly appendKey: string;
  }): 'appended' | 'fenced' | 'conflict';
  /** The key under which the record of this number was appended; null if there is none. */
  findAppend(request: { readonly key: string; readonly seq: number }): string | null;
  readRecords(request: {
    readonly key: string;
    /** Only records with numbers after `after`, up to `upTo`; forward from the lowest, backward from the highest. */
    readonly after: number;
    readonly upTo: number;
    readonly backward: boolean;
    readonly archived: boolean;
    readonly limit: number;
  }): RecordPage;
  setRecordsAside(request: {
    readonly key: string;
    readonly lease: LeaseRef;
    readonly archivedTo: number;
    readonly remove: boolean;
  }): StreamHead | 'fenced';
  /** Replaces records by marks and keeps the records separately. */
  replaceRecords(request: {
    readonly key: string;
    readonly lease: LeaseRef;
    readonly seqs: readonly number[];
  }): 'replaced' | 'fenced';
  /** Like `replaceRecords`, but keeps nothing, and also deletes what earlier repairs of the stream kept. Returns the number. */
  eraseRecords(request: {
    readonly key: string;
    readonly lease: LeaseRef;
    readonly seqs: readonly number[];
  }): number | 'fenced';
  /** Lets a stream without records continue after a number, as if the earlier records had been removed. */
  continueStream(request: {
    readonly key: string;
    readonly lease: LeaseRef;
    readonly after: number;
  }): 'continued' | 'fenced' | 'conflict';
  removeStream(request: { readonly key: string; readonly lease: LeaseRef }): boolean | 'fenced';
  /** Removes some of what is below: streams, with what repairs of them kept, documents and blobs. */
  removeBelow(request: KeyRange & { readonly lease: LeaseRef }): 'done' | 'more' | 'fenced';
  /** What is below, with its size. */
  listPlaces(request: KeyRange): readonly PlaceRow[];

  readDocument(request: { readonly key: string }): StoredBytes | null;
  /** Null, or the stored version that differs from `ifVersion`. */
  writeDocument(
    request: {
      readonly key: string;
      readonly bytes: Uint8Array;
      readonly version: string;
      readonly ifVersion?: string | null;
      readonly cache: boolean;
      /** Shows, if an answer was lost, whether the write took effect. */
      readonly token: string;
    } & Timed,
  ): { readonly conflict: string | null } | null;
  /** As a cache: not synced. */
  overwriteTail(
    request: { readonly key: string; readonly offset: number; readonly bytes: Uint8Array } & Timed,
  ): { readonly size: number | null } | null;
  documentTime(request: { readonly key: string }): number | null;
  renameDocument(request: { readonly key: string; readonly to: string }): boolean;
  deleteDocument(request: { readonly key: string }): boolean;
  /** Keys directly below, not deeper. */
  listDocuments(request: KeyRange): readonly string[];

  putBlob(
    request: { readonly scope: string; readonly digest: string; readonly bytes: Uint8Array } & Timed,
  ): void;
  readBlob(request: { readonly scope: string; readonly digest: string }): StoredBytes | null;
  hasBlob(request: { readonly scope: string; readonly digest: string }): boolean;
  deleteBlob(request: { readonly scope: string; readonly digest: string }): boolean;
  listBlobs(request: {
    readonly scope: string;
    readonly after: string;
    readonly limit: number;
  }): readonly BlobRow[];

  /** The next segment, still encoded, of every key below that holds a record, a document or a blob. */
  listSegments(request: KeyRange): readonly string[];
  /** Every stream, document and scope of blobs below. */
  listContents(
    request: KeyRange,
  ): readonly (readonly [kind: 'journal' | 'document' | 'blobs', key: string])[];
  /** Every key below that holds records or a document, with a text that changes whenever the content changes. */
  readMarks(request: KeyRange): readonly (readonly [key: string, mark: string])[];
}

export type SqlOperation = keyof SqlOperations;
export type SqlRequest<K extends SqlOperation> = Parameters<SqlOperations[K]>[0];
export type SqlAnswer<K extends SqlOperation> = ReturnType<SqlOperations[K]>;

export interface SqlEngine {
  /**
   * @throws STORAGE_FULL, STORAGE_FAILED (nothing was kept), STORAGE_UNAVAILABLE (not reachable in time), and
   * JOURNAL_OUTCOME_UNKNOWN (the operation may have taken effect)
   */
  run<K extends SqlOperation>(operation: K, request: SqlRequest<K>): Promise<SqlAnswer<K>>;
  /** Reports changed keys, or null if anything may have changed. The returned function stops it. */
  watch(onHint: (keys: readonly string[] | null) => void): Promise<() => Promise<void>>;
  /** See `StorageBackend.scrub`. */
  scrub(quick: boolean): Promise<void>;
  close(): Promise<void>;
}
