/**
 * The ledger of tool calls: records which calls were started and finished, so that no call runs twice.
 *
 * A call is in the ledger before its tool starts, and its end is recorded before anyone sees the result. After a crash
 * it gives the verdict: `finished` (with the result, if the ledger holds it), `not_started`, or `outcome_unknown`.
 * Entries are keyed by turn and call, because providers reuse call ids in other turns.
 *
 * Stored in `pending_calls.jsonl`. At a compaction without open calls, earlier records are archived.
 */
import { isRekindleError, messageOf, RekindleError } from '../../core/errors.js';
import { turnNumber } from '../../core/ids.js';
import { isJsonObject, type JsonObject, type JsonValue, textOr } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import type { Journal } from '../../storage/ports.js';

/** Identifies a call. Ids may repeat in other turns. */
export interface LedgerCall {
  readonly callId: string;
  /** Empty outside a turn. */
  readonly turnId: string;
  readonly toolName: string;
}

/** What is known of a call after a crash. */
export type CallVerdict = 'finished' | 'not_started' | 'outcome_unknown';

/** How a call ended. `error` is null if it succeeded. */
export interface LedgerOutcome {
  readonly result: JsonValue;
  readonly error: string | null;
}

/** Events of the ledger. */
export const LEDGER_EVENTS: ReadonlySet<string> = new Set([
  'approval_requested',
  'approval_decided',
  'started',
  'finished',
  'left_to_client',
]);

export interface CallState {
  readonly verdict: CallVerdict;
  readonly outcome: LedgerOutcome | null;
  readonly approval: Entry['approval'];
  /** The host's own approval request and its answer, if the host handles approvals. */
  readonly request: JsonObject | null;
  readonly response: JsonObject | null;
  /** The client provides its result. */
  readonly atClient: boolean;
}

/** A call whose approval is open. */
export interface PendingCall extends LedgerCall {
  readonly requestedAt: number;
  readonly expiresAt: number | null;
}

/** A person's or a policy's decision on a call. */
export interface ApprovalDecision {
  readonly approved: boolean;
  /** Who decided; null if it is not known. */
  readonly by?: string | null;
  /** Why. If the call is denied, the model reads it. */
  readonly reason?: string | null;
}

interface Entry {
  readonly toolName: string;
  started: boolean;
  finished: boolean;
  approval: 'none' | 'pending' | 'approved' | 'denied';
  requestedAt: number | null;
  expiresAt: number | null;
  request: JsonObject | null;
  response: JsonObject | null;
  atClient: boolean;
  /** Null if only the traces hold the result. */
  outcome: LedgerOutcome | null;
}

export interface RunOptions {
  /** The call may run again if its outcome is unknown, or if it failed. Default false. */
  readonly idempotent?: boolean;
}

/** Records the start and the end of each tool call. Part of `MemoryManager`; on its own, use `openToolCallLedger`. */
export class ToolCallLedger {
  readonly #journal: () => Promise<Journal<JsonObject>>;
  readonly #nowMs: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #running = new Map<string, Promise<LedgerOutcome>>();

  /** @param journal opened on first use: an agent without tools has no ledger file */
  constructor(journal: () => Promise<Journal<JsonObject>>, nowMs: () => number) {
    this.#journal = journal;
    this.#nowMs = nowMs;
  }

  /** Reads what earlier processes recorded about these calls; nothing older than the oldest of their turns. */
  async load(calls: readonly LedgerCall[]): Promise<void> {
    if (calls.length === 0) return;
    const oldest = Math.min(...calls.map((call) => turnNumber(call.turnId)));
    const rows: JsonObject[] = [];
    for await (const entry of (await this.#journal()).readBackward()) {
      if (entry.kind !== 'record') continue;
      const turn = turnNumber(String(entry.record['turn_id'] ?? ''));
      if (turn > 0 && turn < oldest) break;
      rows.push(entry.record);
    }
    for (const row of rows.reverse()) this.#apply(row);
  }

  /** Reads everything that is not archived: for use outside an agent. */
  async loadAll(): Promise<void> {
    for await (const entry of (await this.#journal()).read()) {
      if (entry.kind === 'record') this.#apply(entry.record);
    }
  }

  verdictOn(call: LedgerCall): CallState {
    const { started, finished, outcome, approval, request, response, atClient } =
      this.#entries.get(keyOf(call)) ?? newEntry('');
    const verdict = finished ? 'finished' : started ? 'outcome_unknown' : 'not_started';
    return { verdict, outcome, approval, request, response, atClient };
  }

  /** Calls whose approval is open, oldest request first. Such a call may have got a result without running: the traces show it. */
  pendingApprovals(): PendingCall[] {
    return [...this.#entries].flatMap(([key, { toolName, approval, requestedAt, expiresAt, started }]) => {
      if (approval !== 'pending' || started) return [];
      const [turnId = '', callId = ''] = key.split('\u0000');
      return [{ turnId, callId, toolName, requestedAt: requestedAt ?? 0, expiresAt }];
    });
  }

  /** When the approval of the call was first requested; null if it is not open. */
  pendingApproval(call: LedgerCall): Pick<PendingCall, 'requestedAt' | 'expiresAt'> | null {
    const entry = this.#entries.get(keyOf(call));
    if (entry?.approval !== 'pending') return null;
    return { requestedAt: entry.requestedAt ?? 0, expiresAt: entry.expiresAt };
  }

  /**
   * @param request the host's own approval request, if it handles approvals; it is returned unchanged
   * @param expiresAt when the request ends without a decision, in milliseconds since 1970; null: never
   */
  approvalRequested(
    call: LedgerCall,
    request: JsonObject | null = null,
    expiresAt: number | null = null,
  ): Promise<void> {
    return this.#record(call, 'approval_requested', {
      ...(request ? { request } : {}),
      ...(expiresAt === null ? {} : { expires_at: expiresAt / 1000 }),
    });
  }

  /** @param response the answer to the host's own approval request, if it handles approvals */
  approvalDecided(
    call: LedgerCall,
    decision: boolean | ApprovalDecision,
    response: JsonObject | null = null,
  ): Promise<void> {
    const { approved, by, reason } = decisionFrom(decision);
    return this.#record(call, 'approval_decided', {
      approved,
      ...(by ? { by } : {}),
      ...(reason ? { reason } : {}),
      ...(response ? { response } : {}),
    });
  }

  /** The client will provide the result: we never start this call. Durable when it resolves. */
  leftToClient(call: LedgerCall): Promise<void> {
    return this.#record(call, 'left_to_client', {});
  }

  /**
   * Records the start. Durable when it resolves; only then may the tool start.
   * @throws OUTCOME_UNKNOWN if the call was started before and is not idempotent
   */
  async started(call: LedgerCall, options: RunOptions = {}): Promise<void> {
    const entry = this.#entries.get(keyOf(call));
    const mayRepeat = options.idempotent && (!entry?.finished || hasFailed(entry));
    if ((entry?.finished || entry?.started) && !mayRepeat) throw outcomeUnknown(call, entry.finished);
    await this.#record(call, 'started', {});
  }

  /** Durable when it resolves. `outcome` null: the traces hold the result. */
  finished(call: LedgerCall, outcome: LedgerOutcome | null): Promise<void> {
    const fields: JsonObject =
      outcome === null ? {} : outcome.error === null ? { result: outcome.result } : { error: outcome.error };
    return this.#record(call, 'finished', fields);
  }

  /**
   * Runs a call once. A finished call returns its recorded outcome without running. Concurrent runs of the same call
   * share one run. An error of the tool becomes the outcome's `error`.
   * @throws OUTCOME_UNKNOWN if it was started before, its end was not recorded, and it is not idempotent
   */
  run(call: LedgerCall, options: RunOptions, tool: () => Promise<unknown>): Promise<LedgerOutcome> {
    const key = keyOf(call);
    const shared = this.#running.get(key);
    if (shared) return shared;
    const run = this.#run(call, options, tool).finally(() => this.#running.delete(key));
    this.#running.set(key, run);
    return run;
  }

  async #run(call: LedgerCall, options: RunOptions, tool: () => Promise<unknown>): Promise<LedgerOutcome> {
    const known = this.#entries.get(keyOf(call));
    if (known?.finished && known.outcome && !(options.idempotent && hasFailed(known))) return known.outcome;
    await this.started(call, options);
    const outcome = await outcomeOf(tool);
    await this.finished(call, outcome);
    return outcome;
  }

  /** Resolves when all running calls have ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  /** Archives what is recorded so far. Call it only if no call is open. */
  async archive(): Promise<void> {
    const journal = await this.#journal();
    const head = await journal.head();
    if (head.seq > 0) await journal.archiveBefore(head.seq + 1);
    this.#entries.clear();
  }

  async #record(call: LedgerCall, event: string, fields: JsonObject): Promise<void> {
    const row = {
      ts: this.#nowMs() / 1000,
      event,
      call_id: call.callId,
      turn_id: call.turnId,
      tool_name: call.toolName,
      ...fields,
    };
    await (await this.#journal()).append([row]);
    this.#apply(row);
  }

  #apply(row: JsonObject): void {
    const key = keyOf({ callId: textOr(row['call_id']), turnId: textOr(row['turn_id']) });
    const entry = this.#entries.get(key) ?? newEntry(textOr(row['tool_name']));
    if (row['event'] === 'approval_requested') {
      entry.approval = 'pending';
      entry.requestedAt ??= millisecondsIn(row['ts']);
      entry.expiresAt ??= millisecondsIn(row['expires_at']);
      entry.request = isJsonObject(row['request']) ? row['request'] : null;
    } else if (row['event'] === 'approval_decided') {
      entry.approval = row['approved'] === true ? 'approved' : 'denied';
      entry.response = isJsonObject(row['response']) ? row['response'] : null;
    } else if (row['event'] === 'left_to_client') entry.atClient = true;
    else if (row['event'] === 'started') {
      entry.started = true;
      entry.finished = false; // a failed call that runs again: its outcome is open
      entry.outcome = null;
    } else if (row['event'] === 'finished') {
      entry.finished = true;
      if ('error' in row)
        entry.outcome = { result: null, error: textOr(row['error'], JSON.stringify(row['error'])) };
      else if ('result' in row) entry.outcome = { result: row['result'] ?? null, error: null };
    }
    this.#entries.set(key, entry);
  }
}

function hasFailed(entry: Entry): boolean {
  return entry.outcome !== null && entry.outcome.error !== null;
}

export function decisionFrom(given: boolean | ApprovalDecision): ApprovalDecision {
  return typeof given === 'boolean' ? { approved: given } : given;
}

function millisecondsIn(seconds: unknown): number | null {
  return typeof seconds === 'number' ? Math.round(seconds * 1000) : null;
}

function newEntry(toolName: string): Entry {
  return {
    toolName,
    started: false,
    finished: false,
    approval: 'none',
    requestedAt: null,
    expiresAt: null,
    request: null,
    response: null,
    atClient: false,
    outcome: null,
  };
}

/** A tool's output as JSON. A cancellation is passed on; any other thrown error becomes the outcome's error text. */
export async function outcomeOf(tool: () => Promise<unknown>): Promise<LedgerOutcome> {
  try {
    return { result: toJsonValue(await tool()).value, error: null };
  } catch (thrown) {
    if (isRekindleError(thrown, 'LEASE_LOST')) throw thrown;
    const text = messageOf(thrown).toWellFormed().trim();
    return { result: null, error: text === '' ? 'The tool failed without a message.' : text };
  }
}

/** Unique within an agent: ids are reused in other turns. */
export function keyOf(call: { readonly callId: string; readonly turnId: string }): string {
  return `${call.turnId}\u0000${call.callId}`;
}

function outcomeUnknown(call: LedgerCall, finished: boolean): RekindleError {
  const what = finished ? 'was finished before' : 'was started before and its end was not recorded';
  return new RekindleError('OUTCOME_UNKNOWN', `The call ${call.callId} of ${call.toolName} ${what}.`, {
    details: { callId: call.callId, turnId: call.turnId, toolName: call.toolName, finished },
  });
}
