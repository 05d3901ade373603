/**
 * A session of the OpenAI Agents SDK (`@openai/agents-core`) that outlives its process, on any storage.
 *
 * Several processes may use one session at once: each change is decided on the newest state, and is there as a whole or not at all.
 * The journal of changes, below `[root, <session>, 'items']`, is the truth. What was popped or compacted stays in it, and
 * opening a session reads all of it; `clearSession` erases it.
 *
 * The SDK's runner hands over what a run made when the run ends or waits for an approval, and its input earlier only where it is
 * streamed. So a process that dies within a run leaves the history as it was before that run, and its tool calls are not in it.
 */
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

export interface RekindleSessionOptions {
  /** Any text that is not empty. What cannot be part of a name is stored under a digest of it. */
  readonly sessionId: string;
  /** Stays open when the session is closed. */
  readonly storage: StorageBackend;
  /** The first segment of the names of all sessions. Default `openai-agents`. */
  readonly root?: string;
  /**
   * Goes on with what can be read where records of the journal are damaged. Without it every call but `clearSession` rejects with
   * JOURNAL_DAMAGED then, because an agent would go on with a history that has holes.
   */
  readonly acceptDamage?: boolean;
  /** How long to wait while other processes write, in milliseconds. Default 15,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

/**
 * Every change is durable when its call resolves, as far as the storage's durability mode says. All calls reject with
 * JOURNAL_CLOSED after `close`, with JOURNAL_DAMAGED (see `acceptDamage`), with UNSUPPORTED_VERSION where a newer release has written,
 * and with STORAGE_FAILED; changes also with LEASE_HELD, STORAGE_FULL and JOURNAL_OUTCOME_UNKNOWN.
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
      throw invalid('sessionId', 'it is no text, or empty');
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

  /** The newest `limit` items, or all, the oldest first; none where `limit` is not above 0. Copies. @throws INVALID_ARGUMENT */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    if (limit !== undefined && (typeof limit !== 'number' || Number.isNaN(limit)))
      throw invalid('limit', 'it is no number');
    const { items } = await this.#log.read();
    const newest = limit === undefined ? items : items.slice(Math.max(0, items.length - Math.max(0, limit)));
    return newest.map(decodeItem);
  }

  /** All of them or none. @throws INVALID_ARGUMENT for what cannot be stored, or is larger than a record (64 MiB together) */
  async addItems(items: AgentInputItem[]): Promise<void> {
    const added = encodeItems(items, 'items');
    if (added.length > 0) await this.#log.change(() => ({ op: 'add', items: added }));
  }

  /** Takes the newest item away; undefined when there is none. */
  async popItem(): Promise<AgentInputItem | undefined> {
    const newest = await this.#log.change(({ items }) => (items.length > 0 ? { op: 'pop' } : null));
    return newest && decodeItem(newest);
  }

  /** Erases the history, for good: no items, and no transactions that were applied. Possible on a damaged journal, too. */
  async clearSession(): Promise<void> {
    await this.#log.clear(this.#sessionId);
  }

  /** Replaces all items. Transactions that were applied stay applied. @throws INVALID_ARGUMENT as `addItems` */
  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const replacement = encodeItems(items, 'items');
    await this.#log.change(() => ({ op: 'compact', items: replacement }));
  }

  /** Writes nothing where no call is there that is named. @throws INVALID_ARGUMENT */
  async applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    const replacements = checkMutations(mutations);
    await this.#log.change((history) => history.changeOfCalls(replacements));
  }

  /**
   * Once for each `operationId`, also across processes and restarts: the same transaction again changes nothing.
   * @throws INVALID_ARGUMENT for an id that was applied with another transaction, and for items that cannot be stored;
   * JOURNAL_CONFLICT when the history does not end with `expectedSuffix`. Nothing is changed then
   */
  async applyHistoryTransaction(args: SessionHistoryTransactionArgs): Promise<void> {
    const transaction = checkTransaction(args);
    await this.#log.change((history) => history.changeOf(transaction));
  }

  /** Lets changes under way finish. The storage stays open. */
  close(): Promise<void> {
    return this.#log.close();
  }
}

function invalid(argument: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${argument} is refused: ${problem}.`, {
    details: { argument, problem },
  });
}
