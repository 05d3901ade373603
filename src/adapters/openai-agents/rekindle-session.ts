import type {
  AgentInputItem,
  Session,
  SessionHistoryRewriteArgs,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransactionArgs,
  SessionHistoryTransactionAwareSession,
} from '@openai/agents-core';
import { type Clock, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import type { StorageBackend } from '../../storage/ports.js';
import { nameKey } from '../name-key.js';
import { decodeItem, encodeItems } from './item-encoding.js';
import { checkMutations, checkTransaction } from './session-history.js';
import { SessionLog } from './session-log.js';

/** Options of `RekindleSession`. */
export interface RekindleSessionOptions {
  /** Any non-empty text. An id that cannot be part of a name is stored under its digest. */
  readonly sessionId: string;
  /** Any storage. It stays open when the session is closed. */
  readonly storage: StorageBackend;
  /** The first segment of the names of all sessions. Default `openai-agents`. */
  readonly root?: string;
  /**
   * Continue with the readable records of a damaged journal. Otherwise every call except `clearSession`
   * rejects with JOURNAL_DAMAGED, because the history may have gaps.
   */
  readonly acceptDamage?: boolean;
  /** How long to wait while other processes write, in ms. Default 15,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

/**
 * A session of the OpenAI Agents SDK (`@openai/agents-core`) that survives its process, on any storage.
 *
 *     await run(agent, 'Hello', { session: new RekindleSession({ sessionId: 'support-42', storage }) });
 *
 * Several processes may use one session: each change is decided on the newest state and applied completely or
 * not at all. Changes are durable when their call resolves, within the storage's durability mode. Popped and
 * compacted items stay in the journal until `clearSession` erases it.
 *
 * The SDK's runner stores the results of a run when the run ends or waits for an approval (its input earlier,
 * if streamed). If the process dies during a run, that run's tool calls are not in the session. Use
 * `openWorkingContext` if you need them.
 *
 * Calls reject with JOURNAL_CLOSED after `close`, JOURNAL_DAMAGED (see `acceptDamage`), UNSUPPORTED_VERSION
 * if a newer release wrote to the session, and STORAGE_FAILED. Changes also reject with LEASE_HELD,
 * STORAGE_FULL and JOURNAL_OUTCOME_UNKNOWN.
 */
export class RekindleSession
  implements Session, SessionHistoryRewriteAwareSession, SessionHistoryTransactionAwareSession
{
  readonly #sessionId: string;
  readonly #log: SessionLog;

  /** Reads nothing yet. @throws INVALID_ARGUMENT */
  constructor(options: RekindleSessionOptions) {
    const { sessionId, storage, root = 'openai-agents' } = options;
    if (typeof sessionId !== 'string' || sessionId === '')
      throw invalid('sessionId', 'it must be a non-empty string');
    this.#sessionId = sessionId;
    this.#log = new SessionLog(storage, {
      folder: [root, nameKey(sessionId)],
      acceptDamage: options.acceptDamage ?? false,
      clock: options.clock ?? systemClock,
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId;
  }

  /**
   * The newest `limit` items, or all, oldest first; none if `limit` is 0 or less. Copies. @throws
   * INVALID_ARGUMENT
   */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    if (limit !== undefined && (typeof limit !== 'number' || Number.isNaN(limit)))
      throw invalid('limit', 'it must be a number');
    const { items } = await this.#log.read();
    const newest = limit === undefined ? items : items.slice(Math.max(0, items.length - Math.max(0, limit)));
    return newest.map(decodeItem);
  }

  /**
   * Adds items, all or none. @throws INVALID_ARGUMENT for items that cannot be stored or exceed one record
   * (64 MiB in total)
   */
  async addItems(items: AgentInputItem[]): Promise<void> {
    const added = encodeItems(items, 'items');
    if (added.length > 0) await this.#log.change(() => ({ op: 'add', items: added }));
  }

  /** Removes and returns the newest item; undefined if there is none. */
  async popItem(): Promise<AgentInputItem | undefined> {
    const newest = await this.#log.change(({ items }) => (items.length > 0 ? { op: 'pop' } : null));
    return newest && decodeItem(newest);
  }

  /** Erases the history, including the record of applied transactions. Works on a damaged journal, too. */
  async clearSession(): Promise<void> {
    await this.#log.clear(this.#sessionId);
  }

  /** Replaces all items. Applied transactions stay recorded. @throws INVALID_ARGUMENT as `addItems` */
  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const replacement = encodeItems(items, 'items');
    await this.#log.change(() => ({ op: 'compact', items: replacement }));
  }

  /** Replaces function calls. Writes nothing if none of them is in the history. @throws INVALID_ARGUMENT */
  async applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    const replacements = checkMutations(mutations);
    await this.#log.change((history) => history.changeOfCalls(replacements));
  }

  /**
   * Applies a transaction once per `operationId`, also across processes and restarts: a repetition changes
   * nothing.
   * @throws INVALID_ARGUMENT for an id of another transaction, and for items that cannot be stored;
   * JOURNAL_CONFLICT if the history does not end with `expectedSuffix`. Nothing changes then
   */
  async applyHistoryTransaction(args: SessionHistoryTransactionArgs): Promise<void> {
    const transaction = checkTransaction(args);
    await this.#log.change((history) => history.changeOf(transaction));
  }

  /** Waits for changes in progress. The storage stays open. */
  close(): Promise<void> {
    return this.#log.close();
  }
}

function invalid(argument: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${argument} is refused: ${problem}.`, {
    details: { argument, problem },
  });
}
