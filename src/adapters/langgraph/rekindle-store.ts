/** A LangGraph store, the long-term memory of graphs, in any `StorageBackend`. */
import { BaseStore, type Operation, type OperationResults } from '@langchain/langgraph-checkpoint';
import { type Clock, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { Decision } from '../../storage/shared-journal.js';
import { type PutRow, StoreItems } from './store-items.js';
import { answer, putsOf } from './store-operations.js';
import { WholeJournal } from './whole-journal.js';

/** Changes in the history at least, before a new beginning is written: as many as there are items, if these are more. */
const PUTS_MAX = 1_000;
/** In characters. A larger store keeps its history. */
const BEGINNING_SIZE_MAX = 16 * 1024 * 1024;
/** About how much of the history is removed at once. */
const SEGMENT_BYTES = 1024 * 1024;

export interface RekindleStoreOptions {
  /** Stays open when the store is stopped: it is the caller's. */
  readonly storage: StorageBackend;
  /** The folder in the storage. Default `langgraph`. */
  readonly root?: string;
  /** For `createdAt` and `updatedAt`. */
  readonly clock?: Clock;
  /** There is no search by meaning: anything here is refused. */
  readonly index?: undefined;
}

/**
 * All items are one journal, which several processes may write, and a map in memory. A value is an object of JSON. Without an index a
 * search does not look at `query`, as that of `InMemoryStore`; items come in the order in which they were first put.
 *
 * `get`, `put`, `search`, `delete` and `listNamespaces` of `BaseStore` look at namespaces themselves, and throw its
 * `InvalidNamespaceError`; every other error is a `RekindleError`.
 */
export class RekindleStore extends BaseStore {
  readonly #journal: WholeJournal<StoreItems>;
  readonly #clock: Clock;
  /** The history is longer than it needs to be. */
  #isSpent = false;
  /** How long it was when all items were too much for one record; else 0. */
  #tooLargeAt = 0;

  /** @throws INVALID_ARGUMENT for an `index`, INVALID_NAME for a root that cannot be a folder */
  constructor(options: RekindleStoreOptions) {
    super();
    const { storage, root = 'langgraph', clock = systemClock } = options;
    if (options.index !== undefined)
      throw new RekindleError('INVALID_ARGUMENT', 'This store has no search by meaning; leave `index` out.', {
        details: { argument: 'index' },
      });
    encodeNameSegment(root);
    this.#clock = clock;
    this.#journal = new WholeJournal(storage, {
      journal: [root, 'store', 'items'],
      lease: [root, 'store', 'lease'],
      newState: () => new StoreItems(),
      segmentBytes: SEGMENT_BYTES,
    });
  }

  /**
   * All or nothing, and durable when it resolves. What it reads is the state before its own changes; of two changes of one item the
   * last one counts.
   * @throws INVALID_ARGUMENT (nothing was written), JOURNAL_DAMAGED, LEASE_HELD, STORAGE_FULL, STORAGE_FAILED, JOURNAL_OUTCOME_UNKNOWN,
   * JOURNAL_CLOSED
   */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = putsOf(operations);
    const answers = (items: StoreItems) =>
      operations.map((op) => answer(items, op)) as unknown as OperationResults<Op>;
    if (puts.length === 0) return answers(await this.#journal.read());
    const results = await this.#journal.change(
      async (items): Promise<Decision<JsonObject, OperationResults<Op>>> => {
        const before = answers(items);
        const rows = puts.filter(([namespace, key, value]) => value !== null || items.get(namespace, key));
        if (rows.length === 0) return { secure: true, done: () => before };
        const done = () => {
          this.#isSpent = items.puts >= Math.max(PUTS_MAX, items.size, this.#tooLargeAt * 2);
          return before;
        };
        return { record: batchRecord(this.#clock.nowMs(), rows), done };
      },
    );
    // What was asked for is durable: a beginning that cannot be written now is tried again later.
    if (this.#isSpent) await this.#beginAnew().catch(() => {});
    return results;
  }

  /** A long history is replaced by one record of all items, and what comes before it goes. */
  async #beginAnew(): Promise<void> {
    this.#isSpent = false;
    const begin = await this.#journal.change(async (items, seq): Promise<Decision<JsonObject, number>> => {
      if (items.puts < PUTS_MAX) return { done: () => 0 }; // another process did it
      const record = items.beginning();
      const isTooLarge = JSON.stringify(record).length > BEGINNING_SIZE_MAX;
      this.#tooLargeAt = isTooLarge ? items.puts : 0;
      return isTooLarge ? { done: () => 0 } : { record, done: () => seq };
    });
    if (begin > 0) await this.#journal.removeBefore(begin);
  }

  /** Lets calls under way finish; every later one throws JOURNAL_CLOSED. The storage stays open. */
  override async stop(): Promise<void> {
    await this.#journal.close();
  }
}

function batchRecord(at: number, puts: readonly PutRow[]): JsonObject {
  return { type: 'batch', at, puts } as unknown as JsonObject;
}
