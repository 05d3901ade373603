/** A backend over another one: what a wrapper does not change is the other's. */
import type { JsonObject } from '../core/json.js';
import type { Telemetry } from '../core/telemetry.js';
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
} from './ports.js';
import type { StorageRedactor } from './storage-redactor.js';

export abstract class ForwardingStorage implements StorageBackend {
  readonly place: string;
  readonly capabilities: StorageCapabilities;
  readonly documents: Documents;
  readonly leases: Leases;
  readonly redactor: StorageRedactor | null;
  readonly telemetry: Telemetry | null;
  readonly tenantPath: Name;
  readonly isSealed: boolean;
  protected readonly inner: StorageBackend;

  constructor(inner: StorageBackend) {
    this.place = inner.place;
    this.capabilities = inner.capabilities;
    this.documents = inner.documents;
    this.leases = inner.leases;
    this.redactor = inner.redactor ?? null;
    this.telemetry = inner.telemetry ?? null;
    this.tenantPath = inner.tenantPath ?? [];
    this.isSealed = inner.isSealed ?? false;
    this.inner = inner;
  }

  allowSealed(): void {
    this.inner.allowSealed?.();
  }

  blobs(scope: Name): Blobs {
    return this.inner.blobs(scope);
  }

  listNames(prefix: Name): Promise<string[]> {
    return this.inner.listNames(prefix);
  }

  contents(prefix: Name): AsyncIterable<StoredName> {
    return this.inner.contents(prefix);
  }

  openJournal<R extends JsonObject>(name: Name, options?: JournalOptions): Promise<Journal<R>> {
    return this.inner.openJournal(name, options);
  }

  removeJournal(name: Name, lease: Lease): Promise<boolean> {
    return this.inner.removeJournal(name, lease);
  }

  places(prefix: Name): AsyncIterable<StoredPlace> {
    return this.inner.places(prefix);
  }

  removeBelow(prefix: Name, lease: Lease): Promise<void> {
    return this.inner.removeBelow(prefix, lease);
  }

  scrub(options?: { readonly quick?: boolean }): Promise<void> {
    return this.inner.scrub(options);
  }

  sweep(scope: Name, options?: { readonly shared?: boolean }): Promise<number> {
    return this.inner.sweep(scope, options);
  }

  watch(prefix: Name, onChange: (change: StorageChange) => void): Promise<() => Promise<void>> {
    return this.inner.watch(prefix, onChange);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
