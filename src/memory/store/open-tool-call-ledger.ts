/** A standalone ledger of tool calls, for a host that has neither our agent nor a context and needs no call to run twice. */
import { type Clock, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { type CallVerdict, type LedgerCall, type RunOptions, ToolCallLedger } from './tool-call-ledger.js';

/** Options of `openToolCallLedger`. */
export interface LedgerOptions {
  /** Name of its journal. Default `['pending_calls']`, which is the file `pending_calls.jsonl`. */
  readonly name?: Name;
  readonly clock?: Clock;
}

/** Options of one `CallLedger.run`. */
export interface LedgerRunOptions extends RunOptions {
  /** Recorded for readers of the journal. Default: empty. */
  readonly toolName?: string;
}

/**
 * Opens a ledger and takes its lease: only one process at a time can use it.
 * ```ts
 * const ledger = await openToolCallLedger(storage);
 * const result = await ledger.run('order-17', { idempotent: false }, () => placeOrder());
 * ```
 * @throws LEASE_HELD if another process has it open
 */
export async function openToolCallLedger(
  backend: StorageBackend,
  options: LedgerOptions = {},
): Promise<CallLedger> {
  const { name = ['pending_calls'], clock = systemClock } = options;
  const journal = await backend.openJournal<JsonObject>(name);
  const ledger = new ToolCallLedger(
    async () => journal,
    () => clock.nowMs(),
  );
  try {
    await ledger.loadAll();
  } catch (thrown) {
    await journal.close();
    throw thrown;
  }
  return new CallLedger(ledger, () => journal.close());
}

/** A ledger that runs each call at most once, even across crashes. Close it to release its lease. */
export class CallLedger {
  readonly #ledger: ToolCallLedger;
  readonly #close: () => Promise<void>;

  constructor(ledger: ToolCallLedger, close: () => Promise<void>) {
    this.#ledger = ledger;
    this.#close = close;
  }

  /**
   * Runs `tool` once per id. A call that finished before, even in an earlier process, returns its recorded result
   * without running. Concurrent calls with one id share one run. The start is durable before the tool runs, the end
   * before this resolves.
   * @returns the result as JSON
   * @throws TOOL_FAILED with the tool's error, also if it was recorded earlier; OUTCOME_UNKNOWN if the call was started
   * and its end was not recorded, unless it is idempotent
   */
  async run(callId: string, options: LedgerRunOptions, tool: () => Promise<unknown>): Promise<JsonValue> {
    if (callId === '') throw new RekindleError('INVALID_ARGUMENT', 'A call needs an id.');
    const { toolName = '', ...run } = options;
    const outcome = await this.#ledger.run(callOf(callId, toolName), run, tool);
    if (outcome.error === null) return outcome.result;
    throw new RekindleError('TOOL_FAILED', outcome.error, { details: { callId, toolName } });
  }

  /** What is known of a call. */
  verdictOn(callId: string): CallVerdict {
    return this.#ledger.verdictOn(callOf(callId, '')).verdict;
  }

  /** Waits up to `graceMs` (default 5,000) for running calls, so that their ends are recorded. */
  async close(options: { readonly graceMs?: number } = {}): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise((resolve) => {
      timer = setTimeout(resolve, options.graceMs ?? 5_000);
    });
    await Promise.race([this.#ledger.idle(), grace]);
    clearTimeout(timer);
    await this.#close();
  }
}

function callOf(callId: string, toolName: string): LedgerCall {
  return { callId, turnId: '', toolName };
}
