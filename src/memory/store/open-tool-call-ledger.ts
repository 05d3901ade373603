/** The ledger of tool calls by itself: for a host that has neither our agent nor a context, and wants no call to run twice. */
import { type Clock, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { type CallVerdict, type LedgerCall, type RunOptions, ToolCallLedger } from './tool-call-ledger.js';

export interface LedgerOptions {
  /** Where its journal is. Default `['pending_calls']`, which is the file `pending_calls.jsonl`. */
  readonly name?: Name;
  readonly clock?: Clock;
}

export interface LedgerRunOptions extends RunOptions {
  /** For whoever reads the journal. Default: empty. */
  readonly toolName?: string;
}

/**
 * Opens a ledger and takes the right to write it: calls of two processes cannot both be in it.
 * @throws LEASE_HELD when another process has it
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

export class CallLedger {
  readonly #ledger: ToolCallLedger;
  readonly #close: () => Promise<void>;

  constructor(ledger: ToolCallLedger, close: () => Promise<void>) {
    this.#ledger = ledger;
    this.#close = close;
  }

  /**
   * Runs something once under an id. Finished before, here or in an earlier process: its recorded result, without running. At the
   * same time: one run, shared. The start is durable before it runs, the end before this resolves.
   * @returns the result as JSON
   * @throws TOOL_FAILED with what it threw, also when that is recorded from an earlier run; OUTCOME_UNKNOWN when it was started and
   * its end was not recorded, unless it is idempotent
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

  /** Lets calls that run end, so that their ends are recorded, for as long as `graceMs`: default 5,000. */
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
