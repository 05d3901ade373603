/** The ports of one tenant, over those of its store. */
import type { JsonObject, JsonValue } from '../../core/json.js';
import { ForwardingJournal } from '../forwarding-journal.js';
import type {
  AppendOptions,
  AppendResult,
  BlobInfo,
  Blobs,
  Documents,
  DocumentWriteOptions,
  Journal,
  JournalDamage,
  JournalEntry,
  Lease,
  LeaseOptions,
  Leases,
  Name,
  ReadOptions,
  SegmentRepair,
  StoredBlob,
} from '../ports.js';
import type { TenantNames } from './tenant-names.js';

export class TenantDocuments implements Documents {
  readonly #inner: Documents;
  readonly #names: TenantNames;
  /** Absent if the store has none. */
  readonly assertPrivate?: (name: Name) => Promise<void>;

  constructor(inner: Documents, names: TenantNames) {
    this.#inner = inner;
    this.#names = names;
    if (inner.assertPrivate)
      this.assertPrivate = (name) => names.run(async () => inner.assertPrivate!(names.within(name)));
  }

  read(name: Name): Promise<{ readonly value: JsonValue; readonly version: string } | null> {
    return this.#names.run(async () => this.#inner.read(this.#names.within(name)));
  }

  write(name: Name, value: JsonValue, options?: DocumentWriteOptions): Promise<{ readonly version: string }> {
    return this.#names.run(async () => this.#inner.write(this.#names.within(name), value, options));
  }

  readBytes(name: Name): Promise<Uint8Array | null> {
    return this.#names.run(async () => this.#inner.readBytes(this.#names.within(name)));
  }

  writeBytes(name: Name, bytes: Uint8Array, options?: DocumentWriteOptions): Promise<void> {
    return this.#names.run(async () => this.#inner.writeBytes(this.#names.within(name), bytes, options));
  }

  overwriteTail(name: Name, offset: number, bytes: Uint8Array): Promise<void> {
    return this.#names.run(async () => this.#inner.overwriteTail(this.#names.within(name), offset, bytes));
  }

  modifiedMs(name: Name): Promise<number | null> {
    return this.#names.run(async () => this.#inner.modifiedMs(this.#names.within(name)));
  }

  setAside(name: Name, label: string): Promise<string | null> {
    return this.#names.run(async () => this.#inner.setAside(this.#names.within(name), label));
  }

  delete(name: Name): Promise<boolean> {
    return this.#names.run(async () => this.#inner.delete(this.#names.within(name)));
  }

  list(prefix: Name): Promise<string[]> {
    return this.#names.run(async () => this.#inner.list(this.#names.below(prefix)));
  }
}

/** The leases themselves are the store's: its journals recognize them. */
export class TenantLeases implements Leases {
  readonly #inner: Leases;
  readonly #names: TenantNames;

  constructor(inner: Leases, names: TenantNames) {
    this.#inner = inner;
    this.#names = names;
  }

  acquire(name: Name, options?: LeaseOptions): Promise<Lease> {
    return this.#names.run(async () => this.#inner.acquire(this.#names.within(name), options));
  }

  inspect(name: Name): ReturnType<Leases['inspect']> {
    return this.#names.run(async () => this.#inner.inspect(this.#names.within(name)));
  }

  /** Without the lease of the tenant's folder, which belongs to the store. */
  async list(prefix: Name): Promise<Name[]> {
    const found = await this.#names.run(async () => this.#inner.list(this.#names.below(prefix)));
    return found.map((name) => this.#names.shown(name)).filter((name) => name.length > 0);
  }
}

/** Blobs have no names of their own; only errors name their scope. */
export class TenantBlobs implements Blobs {
  readonly #inner: Blobs;
  readonly #names: TenantNames;

  constructor(inner: Blobs, names: TenantNames) {
    this.#inner = inner;
    this.#names = names;
  }

  put(bytes: Uint8Array): Promise<BlobInfo> {
    return this.#names.run(async () => this.#inner.put(bytes));
  }

  get(digest: string): Promise<Uint8Array | null> {
    return this.#names.run(async () => this.#inner.get(digest));
  }

  has(digest: string): Promise<boolean> {
    return this.#names.run(async () => this.#inner.has(digest));
  }

  delete(digest: string): Promise<boolean> {
    return this.#names.run(async () => this.#inner.delete(digest));
  }

  list(): AsyncIterable<StoredBlob> {
    return this.#inner.list();
  }
}

/** Shows the places of damage and repairs without the tenant's folder. */
export class TenantJournal<R extends JsonObject> extends ForwardingJournal<R> {
  readonly #names: TenantNames;

  constructor(inner: Journal<R>, names: TenantNames) {
    super(inner);
    this.#names = names;
  }

  override append(records: readonly R[], options?: AppendOptions): Promise<AppendResult> {
    return this.#names.run(() => this.inner.append(records, options));
  }

  override async *read(options?: ReadOptions): AsyncGenerator<JournalEntry<R>> {
    for await (const entry of this.inner.read(options)) yield this.#shown(entry);
  }

  override async *readBackward(): AsyncGenerator<JournalEntry<R>> {
    for await (const entry of this.inner.readBackward()) yield this.#shown(entry);
  }

  override openingDamage(): readonly (JournalDamage & { readonly setAside?: string })[] {
    return this.inner.openingDamage().map((damage) => this.#shown(damage));
  }

  override async repair(): Promise<SegmentRepair[]> {
    const repairs = await this.#names.run(() => this.inner.repair());
    return repairs.map((repair) => ({ ...repair, place: this.#names.shownPlace(repair.place) }));
  }

  #shown<T extends JournalEntry<R>>(entry: T): T {
    return entry.kind === 'record' ? entry : { ...entry, place: this.#names.shownPlace(entry.place) };
  }
}
