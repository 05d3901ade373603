/**
 * The in-memory backend: the same contract, but lost with the process. For tests, and for agents that need no
 * persistence. Values are copied in and out as JSON text, so no object is shared with the caller.
 */
import { type Clock, systemClock } from '../../core/clock.js';
import type { JsonObject } from '../../core/json.js';
import { keyOf, nameOf, rangeBelow, segmentOf } from '../name-key.js';
import type {
  Blobs,
  Journal,
  JournalOptions,
  Lease,
  Name,
  StorageBackend,
  StorageChange,
  StoredName,
  StoredPlace,
} from '../ports.js';
import { type MemoryBlob, MemoryBlobs } from './memory-blobs.js';
import { MemoryChanges } from './memory-changes.js';
import { MemoryDocuments } from './memory-documents.js';
import { MemoryJournal, MemoryJournalData } from './memory-journal.js';
import { MemoryLeases } from './memory-leases.js';

/** Stores everything in memory, with the same contract as the other backends. Nothing survives the process. */
export class MemoryStorage implements StorageBackend {
  readonly capabilities = { persistent: false, multiProcess: false, multiProcessDocuments: false } as const;
  readonly place = 'memory:';
  readonly documents: MemoryDocuments;
  readonly leases: MemoryLeases;
  readonly #journals = new Map<string, MemoryJournalData>();
  readonly #blobs = new Map<string, Map<string, MemoryBlob>>();
  readonly #open = new Set<{ close(): Promise<void> }>();
  readonly #changes = new MemoryChanges();

  constructor(options: { readonly clock?: Clock } = {}) {
    const clock = options.clock ?? systemClock;
    this.documents = new MemoryDocuments(this.#changes, clock);
    this.leases = new MemoryLeases(clock);
  }

  async openJournal<R extends JsonObject>(name: Name, options: JournalOptions = {}): Promise<Journal<R>> {
    const key = keyOf(name);
    let data = this.#journals.get(key);
    if (!data) this.#journals.set(key, (data = new MemoryJournalData()));
    const readOnly = options.readOnly ?? false;
    const own = readOnly || options.lease ? null : await this.leases.acquire([...name, 'lease']);
    const journal = new MemoryJournal<R>(data, {
      lease: options.lease ?? own,
      readOnly,
      place: name.join('/'),
      onAppend: () => this.#changes.tell(name),
      onClose: async () => {
        this.#open.delete(journal);
        await own?.release();
      },
    });
    this.#open.add(journal);
    return journal;
  }

  async removeJournal(name: Name, lease: Lease): Promise<boolean> {
    await lease.check();
    const data = this.#journals.get(keyOf(name));
    const had = (data?.lastSeq ?? 0) > 0;
    data?.clear(); // open readers see that it is gone
    if (had) this.#changes.tell(name);
    return had;
  }

  blobs(scope: Name): Blobs {
    const key = keyOf(scope);
    let blobs = this.#blobs.get(key);
    if (!blobs) this.#blobs.set(key, (blobs = new Map()));
    return new MemoryBlobs(blobs);
  }

  async listNames(prefix: Name): Promise<string[]> {
    const { start } = rangeBelow(prefix);
    const keys = [...this.documents.keys(), ...nonEmpty(this.#journals), ...this.#scopes()];
    const below = keys
      .filter((key) => key.startsWith(start))
      .map((key) => key.slice(start.length).split('/')[0]!);
    return [...new Set(below)].map(segmentOf).sort();
  }

  async *contents(prefix: Name): AsyncGenerator<StoredName> {
    const { start } = rangeBelow(prefix);
    const all = [
      ...nonEmpty(this.#journals).map((key) => ({ kind: 'journal' as const, key })),
      ...[...this.documents.keys()].map((key) => ({ kind: 'document' as const, key })),
      ...this.#scopes().map((key) => ({ kind: 'blobs' as const, key })),
    ];
    const below = all.filter(({ key }) => key.startsWith(start));
    for (const { kind, key } of below.sort((a, b) => (a.key < b.key ? -1 : 1)))
      yield { kind, name: nameOf(key) };
  }

  #scopes(): string[] {
    return [...this.#blobs].filter(([, scope]) => scope.size > 0).map(([key]) => key);
  }

  async *places(prefix: Name): AsyncGenerator<StoredPlace> {
    for await (const { kind, name } of this.contents(prefix)) {
      const [items, bytes] = this.#sizeOf(kind, keyOf(name));
      if (items > 0) yield { kind, place: name.join('/'), items, bytes };
    }
  }

  #sizeOf(kind: StoredName['kind'], key: string): [items: number, bytes: number] {
    if (kind === 'document') return [1, this.documents.sizeOf(key)];
    const sizes =
      kind === 'blobs'
        ? [...(this.#blobs.get(key)?.values() ?? [])].map(({ bytes }) => bytes.length)
        : (this.#journals.get(key)?.records ?? []).flatMap(({ text }) =>
            text === null ? [] : [text.length],
          );
    return [sizes.length, sizes.reduce((sum, size) => sum + size, 0)];
  }

  async removeBelow(prefix: Name, lease: Lease): Promise<void> {
    const { start } = rangeBelow(prefix);
    await lease.check();
    const isBelow = (key: string) => key.startsWith(start);
    for (const [key, data] of this.#journals) if (isBelow(key)) data.clear(); // open readers see that it is gone
    for (const [key, scope] of this.#blobs) if (isBelow(key)) scope.clear();
    this.documents.deleteBelow(start);
  }

  async scrub(): Promise<void> {}

  async sweep(): Promise<number> {
    return 0;
  }

  async watch(prefix: Name, onChange: (change: StorageChange) => void): Promise<() => Promise<void>> {
    return this.#changes.watch(prefix, onChange);
  }

  async close(): Promise<void> {
    for (const journal of this.#open) await journal.close();
  }
}

function nonEmpty(journals: Map<string, MemoryJournalData>): string[] {
  return [...journals].filter(([, data]) => data.lastSeq > 0).map(([key]) => key);
}
