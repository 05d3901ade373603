/** The backend over an object store: everything in a bucket, a volume, or a folder of objects. */
import { RekindleError } from '../../core/errors.js';
import type { StorageBackend, StorageCapabilities } from '../ports.js';
import { SqlStorage, type SqlStorageOptions } from '../sql/sql-storage.js';
import { ObjectsEngine } from './backend/objects-engine.js';
import { RefusedWrites, UnconditionalWrites } from './backend/unconditional-writes.js';
import type { ConditionalObjects, ObjectStorage } from './object-storage.js';
import { assertWholeNumber } from './option-check.js';

const MIB = 1024 * 1024;

/** Options of `ObjectsStorage`. All are optional. */
export interface ObjectsStorageOptions extends SqlStorageOptions {
  /** Its location, for people, without secrets. Default `objects`. Stores of one process with the same place share their lines of waiting callers. */
  readonly place?: string;
  /** A `SqliteStorage` or `PostgresStorage` that keeps the leases, for an object store without conditional writes. Closed with this store. */
  readonly leases?: StorageBackend;
  /** `one` promises that only one process writes: then an object store without conditional writes needs no other backend. */
  readonly writers?: 'one';
  /** Commits of a journal after which its small objects are merged. Default 32. */
  readonly mergeAt?: number;
  /** Milliseconds between two looks for changes by other processes, while something watches. Each look lists the store. Default 2,000. */
  readonly watchMs?: number;
}

/**
 * Stores everything as objects: journals as numbered, immutable objects, documents, blobs and leases as one object each. Writers
 * on any number of machines exclude each other by conditional writes (`If-None-Match`, `If-Match`).
 * ```ts
 * const storage = new ObjectsStorage(new S3Objects({ bucket: 'agents' }));
 * ```
 * Sends nothing before the first call. An append is durable when its object is stored.
 *
 * @throws INVALID_ARGUMENT. Its calls also throw STORAGE_UNAVAILABLE (no answer after all retries), and STORAGE_FAILED for a
 * server that ignores conditions
 */
export class ObjectsStorage extends SqlStorage {
  readonly place: string;
  override readonly capabilities: StorageCapabilities;

  constructor(objects: ObjectStorage, options: ObjectsStorageOptions = {}) {
    const { place = 'objects', leases, writers, mergeAt = 32, watchMs = 2_000 } = options;
    assertWholeNumber('mergeAt', mergeAt, 2);
    assertWholeNumber('watchMs', watchMs, 1);
    const engine = new ObjectsEngine(objects, {
      conditional: conditionalOf(objects, options, place),
      proves: objects.conditional !== undefined,
      leases: leases ? engineOf(leases) : null,
      merges: { count: mergeAt, bytesMax: 8 * MIB },
      watchMs,
    });
    super(engine, options);
    this.place = place;
    const compares = objects.conditional !== undefined;
    const several = compares || leases !== undefined;
    const isAlone = writers === 'one' && !several;
    this.capabilities = { persistent: true, multiProcess: !isAlone, multiProcessDocuments: compares };
  }
}

function conditionalOf(
  objects: ObjectStorage,
  { leases, writers }: ObjectsStorageOptions,
  place: string,
): ConditionalObjects {
  if (objects.conditional) return objects.conditional;
  if (leases || writers === 'one') return new UnconditionalWrites(objects);
  return new RefusedWrites(objects, place);
}

function engineOf(leases: StorageBackend) {
  if (leases instanceof SqlStorage) return SqlStorage.engineOf(leases);
  throw new RekindleError('INVALID_ARGUMENT', '`leases` must be a SqliteStorage or a PostgresStorage.', {
    details: { argument: 'leases' },
  });
}
