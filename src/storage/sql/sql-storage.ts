/** The storage ports over a SQL engine. */
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
  StorageCapabilities,
  StorageChange,
  StoredName,
  StoredPlace,
} from '../ports.js';
import { type ProcessIdentity, systemIdentity } from '../process-identity.js';
import { GuardedEngine } from './guarded-engine.js';
import { SqlBlobs } from './sql-blobs.js';
import { SqlDocuments } from './sql-documents.js';
import type { SqlEngine } from './sql-engine.js';
import { SqlJournal } from './sql-journal.js';
import { asSqlLease, SqlLeases } from './sql-leases.js';
import { SqlWatch } from './sql-watch.js';

export interface SqlStorageOptions {
  /**
   * Milliseconds an append waits for others to share its commit. Default 0: it shares only with those of one tick, and
   * those that come during a commit.
   */
  readonly gatherMs?: number;
  /** For tests: another clock or process identity. */
  readonly clock?: Clock;
  readonly identity?: ProcessIdentity;
}

export abstract class SqlStorage implements StorageBackend {
  /** For a backend that keeps its leases in another one. */
  static engineOf(storage: SqlStorage): SqlEngine {
    return storage.#engine;
  }

  readonly capabilities: StorageCapabilities = {
    persistent: true,
    multiProcess: true,
    multiProcessDocuments: true,
  };
  readonly documents: SqlDocuments;
  readonly leases: SqlLeases;
  readonly #engine: GuardedEngine;
  readonly #watch: SqlWatch;
  readonly #gatherMs: number;
  readonly #open = new Set<Journal<JsonObject>>();

  constructor(engine: SqlEngine, options: SqlStorageOptions) {
    const { clock = systemClock, identity = systemIdentity } = options;
    const guarded = new GuardedEngine(engine, () => this.place);
    this.#engine = guarded;
    this.#gatherMs = options.gatherMs ?? 0;
    this.#watch = new SqlWatch(guarded);
    this.leases = new SqlLeases(guarded, { clock, identity, place: () => this.place });
    this.documents = new SqlDocuments(guarded, () => this.leases.nowMs);
  }

  abstract readonly place: string;

  /** See `StorageBackend.allowSealed`. */
  allowSealed(): void {
    this.#engine.allow();
  }

  async openJournal<R extends JsonObject>(name: Name, options: JournalOptions = {}): Promise<Journal<R>> {
    const key = keyOf(name);
    const { readOnly = false } = options;
    const own = readOnly || options.lease ? null : await this.leases.acquire([...name, 'lease']);
    const lease = readOnly ? null : (options.lease ?? own);
    try {
      const journal = await SqlJournal.open<R>(this.#engine, {
        key,
        lease: lease && asSqlLease(lease),
        gatherMs: this.#gatherMs,
        onClose: async () => {
          this.#open.delete(journal as unknown as Journal<JsonObject>);
          await own?.release();
        },
      });
      this.#open.add(journal as unknown as Journal<JsonObject>);
      return journal;
    } catch (thrown) {
      await own?.release().catch(() => {}); // the first error is the one to report
      throw thrown;
    }
  }

  async removeJournal(name: Name, lease: Lease): Promise<boolean> {
    const key = keyOf(name);
    const held = asSqlLease(lease);
    held.throwUnlessHeld();
    const removed = await this.#engine.run('removeStream', { key, lease: held.ref });
    if (removed === 'fenced') throw held.markLost();
    return removed;
  }

  blobs(scope: Name): Blobs {
    return new SqlBlobs(this.#engine, keyOf(scope), () => this.leases.nowMs);
  }

  async listNames(prefix: Name): Promise<string[]> {
    const segments = await this.#engine.run('listSegments', rangeBelow(prefix));
    return segments.map(segmentOf).sort();
  }

  async *contents(prefix: Name): AsyncGenerator<StoredName> {
    for (const [kind, key] of await this.#engine.run('listContents', rangeBelow(prefix))) {
      yield { kind, name: nameOf(key) };
    }
  }

  async *places(prefix: Name): AsyncGenerator<StoredPlace> {
    for (const [kind, key, items, bytes] of await this.#engine.run('listPlaces', rangeBelow(prefix)))
      yield { kind, place: nameOf(key).join('/'), items, bytes };
  }

  async removeBelow(prefix: Name, lease: Lease): Promise<void> {
    keyOf(prefix);
    const held = asSqlLease(lease);
    for (let answer = 'more'; answer !== 'done'; ) {
      held.throwUnlessHeld();
      answer = await this.#engine.run('removeBelow', { ...rangeBelow(prefix), lease: held.ref });
      if (answer === 'fenced') throw held.markLost();
    }
  }

  scrub({ quick = false }: { readonly quick?: boolean } = {}): Promise<void> {
    return this.#engine.scrub(quick);
  }

  /** A crash leaves nothing behind: what was not committed does not exist. */
  async sweep(): Promise<number> {
    return 0;
  }

  watch(prefix: Name, onChange: (change: StorageChange) => void): Promise<() => Promise<void>> {
    return this.#watch.watch(prefix, onChange);
  }

  async close(): Promise<void> {
    await this.#watch.close();
    const results = await Promise.allSettled([...this.#open].map((journal) => journal.close()));
    await this.#engine.close();
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
