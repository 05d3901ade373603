/** The operations of a backend over an object store. What SQL does in one transaction, conditional writes do here. */
import { RekindleError } from '../../../core/errors.js';
import { EMPTY_ANSWERS } from '../../sql/empty-answers.js';
import type { SqlAnswer, SqlEngine, SqlOperation, SqlRequest } from '../../sql/sql-engine.js';
import type { ConditionalObjects, ObjectStorage } from '../object-storage.js';
import { BlobObjects } from './blob-objects.js';
import { DocumentObjects } from './document-objects.js';
import { ForeignLeases } from './foreign-leases.js';
import { LeaseObjects } from './lease-objects.js';
import { SegmentReader } from './segment-reader.js';
import { ensureFormat } from './store-format.js';
import { StoredNames } from './stored-names.js';
import { StreamChanges } from './stream-changes.js';
import { type MergeLimits, StreamMerges } from './stream-merges.js';
import { StreamObjects } from './stream-objects.js';

export interface ObjectsEngineOptions {
  readonly conditional: ConditionalObjects;
  /** True if the store itself compares and sets. */
  readonly proves: boolean;
  /** Keeps the leases instead of the object store. */
  readonly leases: SqlEngine | null;
  readonly merges: MergeLimits;
  /** Milliseconds between two looks for changes by other processes. */
  readonly watchMs: number;
}

type Handlers = { readonly [K in SqlOperation]: (request: SqlRequest<K>) => Promise<SqlAnswer<K>> };

export class ObjectsEngine implements SqlEngine {
  readonly #objects: ObjectStorage;
  readonly #options: ObjectsEngineOptions;
  readonly #documents: DocumentObjects;
  readonly #streams: StreamObjects;
  readonly #handlers: Handlers;
  readonly #watchers = new Set<(keys: readonly string[] | null) => void>();
  #format: Promise<void> | null = null;
  #closed = false;

  constructor(objects: ObjectStorage, options: ObjectsEngineOptions) {
    const { conditional: cas } = options;
    this.#objects = objects;
    this.#options = options;
    const leases = options.leases ? new ForeignLeases(options.leases) : new LeaseObjects(objects, cas);
    const reader = new SegmentReader(objects, cas);
    const merges = new StreamMerges(objects, cas, reader, (lease) => leases.holds(lease), options.merges);
    this.#documents = new DocumentObjects(objects, cas);
    this.#streams = new StreamObjects(objects, cas, reader, leases, merges);
    const changes = new StreamChanges(objects, cas, reader, leases, this.#streams, merges);
    this.#handlers = {
      ...this.#leaseHandlers(leases),
      ...streamHandlers(this.#streams, changes),
      ...documentHandlers(this.#documents),
      ...blobHandlers(new BlobObjects(objects)),
      ...this.#nameHandlers(new StoredNames(objects), leases, reader),
    };
  }

  async run<K extends SqlOperation>(operation: K, request: SqlRequest<K>): Promise<SqlAnswer<K>> {
    if (this.#closed) throw new RekindleError('STORAGE_FAILED', 'The store was closed.');
    if (!(operation in EMPTY_ANSWERS)) await this.#ensureFormat();
    const answer = await this.#handlers[operation](request);
    const key = CHANGES.has(operation) ? changedKey(request) : null;
    if (key !== null) for (const tell of this.#watchers) tell([key]);
    return answer;
  }

  #ensureFormat(): Promise<void> {
    if (!this.#options.proves) return Promise.resolve();
    this.#format ??= ensureFormat(this.#options.conditional).catch((thrown: unknown) => {
      this.#format = null; // the next call tries again
      throw thrown;
    });
    return this.#format;
  }

  #leaseHandlers(leases: LeaseObjects | ForeignLeases) {
    return {
      readLease: (request) => leases.read(request),
      takeLease: (request) => leases.take(request),
      holdsLease: (request) => leases.holds(request),
      beatLease: (request) => leases.beat(request),
      listLeases: (request) => leases.list(request),
      // The next owner reads what the caches hold, and merges need the lease.
      releaseLease: async (request) => {
        await Promise.all([this.#documents.flush(), this.#streams.settled()]);
        await leases.release(request);
      },
    } satisfies Partial<Handlers>;
  }

  #nameHandlers(names: StoredNames, leases: LeaseObjects | ForeignLeases, reader: SegmentReader) {
    return {
      listSegments: (request) => names.segments(request),
      listContents: (request) => names.contents(request),
      listPlaces: (request) => names.places(request),
      readMarks: (request) => names.marks(request),
      removeBelow: async ({ lease, ...range }) => {
        const isBelow = (key: string) => key >= range.start && key < range.end;
        for (const key of this.#documents.waitingKeys()) if (isBelow(key)) this.#documents.forget(key);
        const removed = await names.remove(range, () => leases.holds(lease));
        this.#streams.forgetBelow(range);
        reader.forget();
        return removed ? 'done' : 'fenced';
      },
    } satisfies Partial<Handlers>;
  }

  async watch(onHint: (keys: readonly string[] | null) => void): Promise<() => Promise<void>> {
    this.#watchers.add(onHint);
    const timer = setInterval(() => onHint(null), this.#options.watchMs).unref();
    return async () => {
      clearInterval(timer);
      this.#watchers.delete(onHint);
    };
  }

  /** A deleted object is gone. Older versions that a bucket keeps are out of scope. */
  async scrub(): Promise<void> {}

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#documents.flush();
    await this.#streams.settled();
    this.#closed = true;
    await this.#options.leases?.close();
    await this.#objects.close();
  }
}

/** Operations that `watch` reports at once, because this process does them. */
const CHANGES: ReadonlySet<SqlOperation> = new Set<SqlOperation>([
  'append',
  'writeDocument',
  'overwriteTail',
  'deleteDocument',
  'renameDocument',
]);

function changedKey(request: object): string | null {
  return 'key' in request && typeof request.key === 'string' ? request.key : null;
}

function streamHandlers(streams: StreamObjects, changes: StreamChanges) {
  return {
    readHead: (request) => streams.readHead(request),
    openStream: (request) => streams.open(request),
    append: (request) => streams.append(request),
    findAppend: (request) => streams.find(request),
    readRecords: (request) => streams.read(request),
    setRecordsAside: (request) => changes.setAside(request),
    replaceRecords: (request) => changes.replace(request),
    eraseRecords: (request) => changes.erase(request),
    continueStream: (request) => changes.continueAfter(request),
    removeStream: (request) => changes.remove(request),
  } satisfies Partial<Handlers>;
}

function documentHandlers(documents: DocumentObjects) {
  return {
    readDocument: (request) => documents.read(request),
    writeDocument: (request) => documents.write(request),
    overwriteTail: (request) => documents.overwriteTail(request),
    documentTime: (request) => documents.modifiedMs(request),
    renameDocument: (request) => documents.rename(request),
    deleteDocument: (request) => documents.delete(request),
    listDocuments: (request) => documents.list(request),
  } satisfies Partial<Handlers>;
}

function blobHandlers(blobs: BlobObjects) {
  return {
    putBlob: (request) => blobs.put(request),
    readBlob: (request) => blobs.read(request),
    hasBlob: (request) => blobs.has(request),
    deleteBlob: (request) => blobs.delete(request),
    listBlobs: (request) => blobs.list(request),
  } satisfies Partial<Handlers>;
}
