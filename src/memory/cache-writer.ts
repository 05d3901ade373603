/** Writes the cache of a context: the snapshot file, with the position in the journal that it covers. */
import { asRekindleError } from '../core/errors.js';
import type { TypedEvents } from '../core/events.js';
import type { MemoryEvents } from './memory-events.js';
import type { MemoryStore } from './store/memory-store.js';
import type { SnapshotFooter } from './store/snapshot-file.js';
import type { SavedSnapshot, WorkingContextSnapshotStore } from './store/working-context-snapshot-store.js';
import type { TraceLog } from './trace-log.js';

/** Maximum age of a lease check for a cache write, in milliseconds: a turn has just made one. */
const CACHE_LEASE_AGE_MS = 100;

export interface CacheWriterOptions {
  readonly log: TraceLog;
  readonly store: MemoryStore;
  readonly snapshotStore: WorkingContextSnapshotStore;
  readonly events: TypedEvents<MemoryEvents>;
  /** Makes the items of earlier compactions durable. */
  readonly flushItems: () => Promise<void>;
}

export class CacheWriter {
  readonly #options: CacheWriterOptions;

  constructor(options: CacheWriterOptions) {
    this.#options = options;
  }

  /** Returns null after a failure, which is reported as an event, and in a read-only store. One save at a time. */
  async save(): Promise<SavedSnapshot | null> {
    const { log, store, snapshotStore, events, flushItems } = this.#options;
    if (store.readOnly) return null;
    try {
      await log.flushPending();
      await flushItems(); // otherwise a cache that covers the compaction would hide from a restore that they are missing
      await store.lease?.check({ maxAgeMs: CACHE_LEASE_AGE_MS }); // a fenced writer must not touch its successor's cache
      const saved = await snapshotStore.save(log.state.snapshot, this.#footer());
      events.emit('snapshot_saved', saved);
      return saved;
    } catch (thrown) {
      events.emit('snapshot_failed', { error: asRekindleError(thrown) });
      return null;
    }
  }

  #footer(): SnapshotFooter {
    const { log, store } = this.#options;
    const { snapshot, lastTurn, turnId, turnSeq, compactionFailures } = log.state;
    const { epochId, lastCompactionTs } = snapshot;
    const { seq, crc, cursor } = log.head;
    return {
      epochId,
      lastCompactionTs,
      coversSeq: seq,
      coversCrc: crc,
      cursor,
      lastTurn,
      turnId,
      turnSeq,
      compactionFailures,
      reader: store.declaredReader,
      unknown: log.unknown,
    };
  }
}
