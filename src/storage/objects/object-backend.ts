/**
 * A backend that stores large blobs in an object store. Journals, documents and leases stay in the backend, because
 * object stores lack what they need.
 */
import { RekindleError } from '../../core/errors.js';
import { isDigest } from '../blob-digest.js';
import { ForwardingStorage } from '../forwarding-storage.js';
import { keyOf } from '../name-key.js';
import type { Blobs, Lease, Name, StorageBackend, StoredName, StoredPlace } from '../ports.js';
import { redactedBlobs } from '../redacted-storage.js';
import { ObjectBlobs } from './object-blobs.js';
import type { ObjectStorage } from './object-storage.js';
import { assertWholeNumber } from './option-check.js';

const MIB = 1024 * 1024;

/** Options of `withObjects`. */
export interface WithObjectsOptions {
  /** Blobs of at least this many bytes go to the object store. Default 1 MiB. Can be changed later: both places are searched. */
  readonly fromBytes?: number;
}

/**
 * Stores large blobs of a backend in an object store.
 * ```ts
 * const storage = withObjects(new FileStorage('memory'), new S3Objects({ bucket: 'agents' }));
 * ```
 * `close` of the result closes both. `watch` reports only changes of the backend. @throws INVALID_ARGUMENT
 */
export function withObjects(
  backend: StorageBackend,
  objects: ObjectStorage,
  { fromBytes = MIB }: WithObjectsOptions = {},
): StorageBackend {
  assertWholeNumber('fromBytes', fromBytes, 0);
  if (backend.isSealed)
    throw new RekindleError(
      'INVALID_ARGUMENT',
      'Large blobs would leave the sealed store unsealed. Use withObjects first.',
      {
        details: { argument: 'backend' },
      },
    );
  return new ObjectBackend(backend, objects, fromBytes);
}

/** A process that was suspended for longer than this, in milliseconds, checks the lease again. */
const LEASE_AGE_MS = 1_000;

class ObjectBackend extends ForwardingStorage {
  readonly #objects: ObjectStorage;
  readonly #fromBytes: number;

  constructor(backend: StorageBackend, objects: ObjectStorage, fromBytes: number) {
    super(backend);
    this.#objects = objects;
    this.#fromBytes = fromBytes;
  }

  override blobs(scope: Name): Blobs {
    const blobs = new ObjectBlobs(
      this.inner.blobs(scope),
      this.#objects,
      this.#objectName(scope),
      this.#fromBytes,
    );
    return redactedBlobs(blobs, scope, this.redactor);
  }

  override async listNames(prefix: Name): Promise<string[]> {
    const [ours, theirs] = await Promise.all([
      this.inner.listNames(prefix),
      this.#objects.names(this.#objectName(prefix)),
    ]);
    return [...new Set([...ours, ...theirs])].sort();
  }

  /** Holds names only, so all are collected first: then each scope is listed once, and in its place. */
  override async *contents(prefix: Name): AsyncGenerator<StoredName> {
    const found = new Map<string, StoredName>();
    // The separator sorts before every character of a key, so the order is that of the keys.
    const add = (stored: StoredName) => found.set(`${keyOf(stored.name)} ${stored.kind}`, stored);
    for await (const stored of this.inner.contents(prefix)) add(stored);
    for await (const { name } of this.#objects.list(this.#objectName(prefix))) {
      const isBlob = name.length > 1 && isDigest(name.at(-1)!);
      if (isBlob) add({ kind: 'blobs', name: [...prefix, ...name.slice(0, -1)] });
    }
    for (const key of [...found.keys()].sort()) yield found.get(key)!;
  }

  override async *places(prefix: Name): AsyncGenerator<StoredPlace> {
    yield* this.inner.places(prefix);
    const scopes = new Map<string, StoredPlace>();
    for await (const { name, size } of this.#objects.list(this.#objectName(prefix))) {
      const place = [...prefix, ...name.slice(0, -1)].join('/');
      const { items = 0, bytes = 0 } = scopes.get(place) ?? {};
      scopes.set(place, { kind: 'blobs', place, items: items + 1, bytes: bytes + size });
    }
    yield* scopes.values();
  }

  override async removeBelow(prefix: Name, lease: Lease): Promise<void> {
    await this.inner.removeBelow(prefix, lease);
    const names: Name[] = [];
    for await (const { name } of this.#objects.list(this.#objectName(prefix))) names.push(name);
    for (const name of names) {
      await lease.check({ maxAgeMs: LEASE_AGE_MS });
      await this.#objects.delete(this.#objectName([...prefix, ...name]));
    }
  }

  /** The object store is shared by all tenants of the store. */
  #objectName(name: Name): Name {
    return [...this.tenantPath, ...name];
  }

  override async close(): Promise<void> {
    const results = await Promise.allSettled([this.inner.close(), this.#objects.close()]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
}
