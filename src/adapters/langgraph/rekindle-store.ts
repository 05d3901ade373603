import { BaseStore, type Operation, type OperationResults } from '@langchain/langgraph-checkpoint';
import { type Clock, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { Decision } from '../../storage/shared-journal.js';
import { WholeJournal } from '../whole-journal.js';
import { type PutRow, StoreItems } from './store-items.js';
import { answer, putsOf } from './store-operations.js';

/**
 * Minimum of changes in the history before it is compacted into one record, or the number of items if that is
 * larger.
 */
const PUTS_MAX = 1_000;
/** In characters. A larger store keeps its history. */
const BEGINNING_SIZE_MAX = 16 * 1024 * 1024;
/** Approximate bytes of history that are removed at once. */
const SEGMENT_BYTES = 1024 * 1024;

/** Options of `RekindleStore`. */
export interface RekindleStoreOptions {
  /** Any storage. It stays open when the store is stopped. */
  readonly storage: StorageBackend;
  /** The folder in the storage. Default `langgraph`. */
  readonly root?: string;
  /** For `createdAt` and `updatedAt`. */
  readonly clock?: Clock;
  /** Vector search is not supported, so any value is refused. */
  readonly index?: undefined;
}

/**
 * A LangGraph store (long-term memory of graphs) over any `StorageBackend`.
 *
 * All items are in one journal, which several processes may write, and in memory. A value is a JSON object.
 * As in `InMemoryStore` without an index, a search ignores `query`; items are returned in the order of their
 * first put.
 *
 * `get`, `put`, `search`, `delete` and `listNamespaces` are those of `BaseStore`: they check namespaces and
 * throw its `InvalidNamespaceError`. All other errors are `RekindleError`s.
 */
export class RekindleStore extends BaseStore {
  readonly #journal: WholeJournal<StoreItems>;
  readonly #clock: Clock;
  /** The history is long enough to compact. */
  #isSpent = false;
  /** Length of the history when the items were too large for one record; else 0. */
  #tooLargeAt = 0;

  /** @throws INVALID_ARGUMENT for an `index`, INVALID_NAME if the root cannot be a folder name */
  constructor(options: RekindleStoreOptions) {
    super();
    const { storage, root = 'langgraph', clock = systemClock } = options;
    if (options.index !== undefined)
      throw new RekindleError(
        'INVALID_ARGUMENT',
        'This store does not support vector search. Leave out `index`.',
        {
          details: { argument: 'index' },
        },
      );
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
   * Runs operations, all or nothing. Durable when it resolves. Reads see the state before the batch's own
   * changes; of two changes of one item, the last one counts.
   * @throws INVALID_ARGUMENT (nothing was written), JOURNAL_DAMAGED, LEASE_HELD, STORAGE_FULL,
   * STORAGE_FAILED, JOURNAL_OUTCOME_UNKNOWN, JOURNAL_CLOSED
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
    // The batch is durable: if compaction fails now, it is tried again later.
    if (this.#isSpent) await this.#beginAnew().catch(() => {});
    return results;
  }

  /** Replaces a long history with one record of all items. */
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

  /** Waits for calls in progress; later calls throw JOURNAL_CLOSED. The storage stays open. */
  override async stop(): Promise<void> {
    await this.#journal.close();
  }
}

function batchRecord(at: number, puts: readonly PutRow[]): JsonObject {
  return { type: 'batch', at, puts } as unknown as JsonObject;
}
