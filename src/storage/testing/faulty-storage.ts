/**
 * A backend that behaves like another one, except where a plan injects a fault: for tests of how a program handles
 * failing storage.
 *
 * const backend = faultyStorage(new FileStorage(folder), failAt(7, 'STORAGE_FULL'));
 *
 * The plan sees every call of every port, and the caller's use of a lease, but not the lease's heartbeat. Results are
 * the backend's own answers and keep its contract. `runFaultConformance` tries each call in turn.
 */
import type { JsonObject } from '../../core/json.js';
import type {
  Blobs,
  Documents,
  Journal,
  JournalOptions,
  Lease,
  Leases,
  Name,
  StorageBackend,
  StorageCapabilities,
  StorageChange,
  StoredName,
  StoredPlace,
} from '../ports.js';
import { FaultyCalls } from './faulty-calls.js';
import { FaultyJournal } from './faulty-journal.js';
import { FaultyLease } from './faulty-lease.js';
import type { FaultPlan } from './storage-fault.js';

/**
 * Wraps a backend so that a plan can inject faults into its calls. See the example at the top of this file.
 * @param plan asked before each call; see `StorageFault` for its answers
 */
export function faultyStorage(backend: StorageBackend, plan: FaultPlan): StorageBackend {
  return new FaultyStorage(backend, new FaultyCalls(plan));
}

class FaultyStorage implements StorageBackend {
  readonly place: string;
  readonly capabilities: StorageCapabilities;
  readonly documents: Documents;
  readonly leases: Leases;
  readonly #inner: StorageBackend;
  readonly #calls: FaultyCalls;

  constructor(inner: StorageBackend, calls: FaultyCalls) {
    this.#inner = inner;
    this.#calls = calls;
    this.place = inner.place;
    this.capabilities = inner.capabilities;
    this.documents = faultyDocuments(inner.documents, calls);
    this.leases = faultyLeases(inner.leases, calls);
  }

  openJournal<R extends JsonObject>(name: Name, options: JournalOptions = {}): Promise<Journal<R>> {
    const { lease } = options;
    const own = lease instanceof FaultyLease ? lease : null;
    const open = async () => {
      const journal = await this.#inner.openJournal<R>(
        name,
        lease ? { ...options, lease: innerOf(lease) } : options,
      );
      return new FaultyJournal<R>(journal, this.#calls, name, own);
    };
    return this.#calls.run('journal.open', name, open, { letGo: (journal) => journal.letGo() });
  }

  removeJournal(name: Name, lease: Lease): Promise<boolean> {
    const remove = () => this.#inner.removeJournal(name, innerOf(lease));
    return this.#calls.run('journal.remove', name, remove);
  }

  blobs(scope: Name): Blobs {
    return faultyBlobs(this.#inner.blobs(scope), this.#calls, scope);
  }

  listNames(prefix: Name): Promise<string[]> {
    return this.#calls.run('backend.listNames', prefix, () => this.#inner.listNames(prefix));
  }

  contents(prefix: Name): AsyncIterable<StoredName> {
    return this.#calls.iterate('backend.contents', prefix, () => this.#inner.contents(prefix));
  }

  places(prefix: Name): AsyncIterable<StoredPlace> {
    return this.#calls.iterate('backend.places', prefix, () => this.#inner.places(prefix));
  }

  removeBelow(prefix: Name, lease: Lease): Promise<void> {
    const remove = () => this.#inner.removeBelow(prefix, innerOf(lease));
    return this.#calls.run('backend.removeBelow', prefix, remove);
  }

  scrub(options?: { readonly quick?: boolean }): Promise<void> {
    return this.#calls.run('backend.scrub', [], () => this.#inner.scrub(options));
  }

  sweep(scope: Name, options?: { readonly shared?: boolean }): Promise<number> {
    return this.#calls.run('backend.sweep', scope, () => this.#inner.sweep(scope, options));
  }

  watch(prefix: Name, onChange: (change: StorageChange) => void): Promise<() => Promise<void>> {
    const watch = () => this.#inner.watch(prefix, onChange);
    return this.#calls.run('backend.watch', prefix, watch, { letGo: (end) => end() });
  }

  close(): Promise<void> {
    return this.#calls.run('backend.close', [], () => this.#inner.close(), { ends: true });
  }
}

/** A backend may accept only its own leases. */
function innerOf(lease: Lease): Lease {
  return lease instanceof FaultyLease ? lease.inner : lease;
}

function faultyLeases(inner: Leases, calls: FaultyCalls): Leases {
  return {
    acquire(name, options) {
      const acquire = async () => new FaultyLease(await inner.acquire(name, options), calls, name);
      return calls.run('lease.acquire', name, acquire, { letGo: (lease) => lease.inner.release() });
    },
    inspect: (name) => calls.run('lease.inspect', name, () => inner.inspect(name)),
    list: (prefix) => calls.run('lease.list', prefix, () => inner.list(prefix)),
  };
}

function faultyDocuments(inner: Documents, calls: FaultyCalls): Documents {
  return {
    read: (name) => calls.run('document.read', name, () => inner.read(name)),
    write: (name, value, options) =>
      calls.run('document.write', name, () => inner.write(name, value, options)),
    readBytes: (name) => calls.run('document.readBytes', name, () => inner.readBytes(name)),
    writeBytes: (name, bytes, options) =>
      calls.run('document.writeBytes', name, () => inner.writeBytes(name, bytes, options)),
    overwriteTail: (name, offset, bytes) =>
      calls.run('document.overwriteTail', name, () => inner.overwriteTail(name, offset, bytes)),
    modifiedMs: (name) => calls.run('document.modifiedMs', name, () => inner.modifiedMs(name)),
    setAside: (name, label) => calls.run('document.setAside', name, () => inner.setAside(name, label)),
    delete: (name) => calls.run('document.delete', name, () => inner.delete(name)),
    list: (prefix) => calls.run('document.list', prefix, () => inner.list(prefix)),
  };
}

function faultyBlobs(inner: Blobs, calls: FaultyCalls, scope: Name): Blobs {
  return {
    put: (bytes) => calls.run('blob.put', scope, () => inner.put(bytes)),
    get: (digest) => calls.run('blob.get', scope, () => inner.get(digest)),
    has: (digest) => calls.run('blob.has', scope, () => inner.has(digest)),
    delete: (digest) => calls.run('blob.delete', scope, () => inner.delete(digest)),
    list: () => calls.iterate('blob.list', scope, () => inner.list()),
  };
}
