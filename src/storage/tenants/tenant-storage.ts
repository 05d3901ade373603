/** One tenant of a store: everything that features store is below one folder, and nothing outside of it can be named. */
import type { JsonObject } from '../../core/json.js';
import { ForwardingStorage } from '../forwarding-storage.js';
import type {
  Blobs,
  Documents,
  Journal,
  JournalOptions,
  Lease,
  Leases,
  Name,
  StorageBackend,
  StorageChange,
  StoredName,
  StoredPlace,
} from '../ports.js';
import { TENANTS, TenantNames } from './tenant-names.js';
import { TenantBlobs, TenantDocuments, TenantJournal, TenantLeases } from './tenant-ports.js';

/**
 * A part of a store, as a store of its own: with its own agents, sessions, tokens, leases and everything else. Code that has the
 * result cannot name anything of another tenant, or of the store outside of its tenants. Works over any backend, and with
 * `withRedaction` and `withObjects` in any order. `scrub` and `close` are those of the given store.
 *
 *     const store = openStorage('sqlite:agents.db');
 *     const agent = await openAgent('desk', { storage: withTenant(store, 'acme'), model });
 *
 * @param tenant any name that the name encoding accepts, such as a customer's id; names that differ in letter case are different
 * @throws INVALID_NAME
 */
export function withTenant(backend: StorageBackend, tenant: string): StorageBackend {
  return new TenantStorage(backend, new TenantNames(tenant));
}

/** The tenants of a store that have data, sorted. Tenants of tenants are not included. @throws STORAGE_FAILED */
export function listTenants(backend: StorageBackend): Promise<string[]> {
  return backend.listNames(TENANTS);
}

class TenantStorage extends ForwardingStorage {
  override readonly place: string;
  override readonly documents: Documents;
  override readonly leases: Leases;
  override readonly tenantPath: Name;
  readonly #names: TenantNames;

  constructor(inner: StorageBackend, names: TenantNames) {
    super(inner);
    this.#names = names;
    this.place = names.placeIn(inner.place);
    this.documents = new TenantDocuments(inner.documents, names);
    this.leases = new TenantLeases(inner.leases, names);
    this.tenantPath = [...(inner.tenantPath ?? []), ...names.folder];
  }

  override blobs(scope: Name): Blobs {
    return new TenantBlobs(this.inner.blobs(this.#names.within(scope)), this.#names);
  }

  override listNames(prefix: Name): Promise<string[]> {
    return this.#names.run(async () => this.inner.listNames(this.#names.below(prefix)));
  }

  override async *contents(prefix: Name): AsyncGenerator<StoredName> {
    for await (const { kind, name } of this.inner.contents(this.#names.below(prefix)))
      yield { kind, name: this.#names.shown(name) };
  }

  override async openJournal<R extends JsonObject>(
    name: Name,
    options?: JournalOptions,
  ): Promise<Journal<R>> {
    const open = async () => this.inner.openJournal<R>(this.#names.within(name), options);
    return new TenantJournal(await this.#names.run(open), this.#names);
  }

  override removeJournal(name: Name, lease: Lease): Promise<boolean> {
    return this.#names.run(async () => this.inner.removeJournal(this.#names.within(name), lease));
  }

  override async *places(prefix: Name): AsyncGenerator<StoredPlace> {
    for await (const stored of this.inner.places(this.#names.below(prefix)))
      yield { ...stored, place: this.#names.shownPlace(stored.place) };
  }

  /** The whole tenant is removed in the store, not from inside. */
  override removeBelow(prefix: Name, lease: Lease): Promise<void> {
    return this.#names.run(async () => this.inner.removeBelow(this.#names.within(prefix), lease));
  }

  override sweep(scope: Name, options?: { readonly shared?: boolean }): Promise<number> {
    return this.#names.run(async () => this.inner.sweep(this.#names.below(scope), options));
  }

  override watch(prefix: Name, onChange: (change: StorageChange) => void): Promise<() => Promise<void>> {
    return this.#names.run(async () => this.inner.watch(this.#names.below(prefix), onChange));
  }
}
