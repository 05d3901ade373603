/**
 * Runs the calls of one response in parallel: checks, approvals, timeouts, cancellation. Every call gets its
 * result.
 */
import PQueue from 'p-queue';
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { ToolDefinition } from '../../core/tool-definition.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { ARGUMENTS_GONE } from '../../memory/store/given-arguments.js';
import type { LedgerCall } from '../../memory/store/tool-call-ledger.js';
import type { ToolCallSpec } from '../../messages/message.js';
import { keepsApprovals } from './agent-stopped.js';
import type { Approve } from './approval.js';

import { NOT_STARTED_TEXT, runRecordedCall } from './recorded-call.js';
import type { ToolRegistry } from './tool-registry.js';

export interface ToolOutcome {
  readonly callId: string;
  readonly toolName: string;
  readonly result: JsonValue;
  readonly error: string | null;
}

export interface ToolRunnerOptions {
  readonly memory: MemoryManager;
  readonly registry: ToolRegistry;
  /** Without it, calls that need approval are refused. */
  readonly approve: Approve | 'inbox' | null;
  /** Milliseconds from the first request until a call counts as denied; null: never. */
  readonly approvalExpiresMs: number | null;
  readonly nowMs: () => number;
  readonly parallelMax: number;
  readonly onStarted: (call: ToolCallSpec, turnId: string) => void;
  readonly onApprovalRequested: (call: ToolCallSpec, turnId: string) => void;
  readonly onResult: (outcome: ToolOutcome, turnId: string) => void;
}

/**
 * Returned instead of a refusal: the agent was stopped while a person was asked, and the next process asks
 * again.
 */
const LEFT_OPEN = Symbol('left open');

/** What a decision on a call needs beside it. */
interface CallRun {
  /** The call of the response. */
  readonly recorded: ToolCallSpec;
  readonly signal: AbortSignal;
}

export const NOT_APPROVED_TEXT = 'The call was not approved, so it did not run.';
const NO_APPROVER_TEXT = 'The call needs approval and nobody is there to give it, so it did not run.';

export class ToolRunner {
  readonly #options: ToolRunnerOptions;

  constructor(options: ToolRunnerOptions) {
    this.#options = options;
  }

  /**
   * Resolves when every call has its durable result, or waits for an approval while the agent stops. @throws
   * what the journal throws
   */
  async runAll(calls: readonly ToolCallSpec[], turnId: string, signal: AbortSignal): Promise<void> {
    const queue = new PQueue({ concurrency: this.#options.parallelMax });
    const runs = calls.map((call) => queue.add(() => this.#run(call, turnId, signal)));
    const settled = await Promise.allSettled(runs); // a failure must not leave other calls unobserved
    const failed = settled.find((run) => run.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #run(recorded: ToolCallSpec, turnId: string, signal: AbortSignal): Promise<void> {
    const call: LedgerCall = { callId: recorded.id, turnId, toolName: recorded.name };
    const args = this.#options.memory.store.given.of(turnId, recorded);
    const spec: ToolCallSpec = args === undefined ? recorded : { ...recorded, arguments: args };
    const refusal = signal.aborted
      ? NOT_STARTED_TEXT
      : args === undefined
        ? ARGUMENTS_GONE
        : await this.#refusal(spec, call, { recorded, signal });
    if (refusal === LEFT_OPEN) return;
    if (refusal !== null) {
      await this.#options.memory.ingestToolResults(
        [{ callId: spec.id, toolName: spec.name, error: refusal }],
        turnId,
      );
      this.#tell(call, { result: null, error: refusal });
      return;
    }
    this.#tell(call, await this.#execute(spec, call, signal));
  }

  async #execute(
    spec: ToolCallSpec,
    call: LedgerCall,
    signal: AbortSignal,
  ): Promise<{ result: JsonValue; error: string | null }> {
    const tool = this.#options.registry.get(spec.name)!;
    const { idempotent = false, timeoutMs } = tool;
    const options = { idempotent, signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    try {
      return await runRecordedCall(this.#options.memory, call, options, (context) => {
        this.#options.onStarted(spec, call.turnId);
        return tool.execute(spec.arguments as JsonObject, context);
      });
    } catch (thrown) {
      if (!isRekindleError(thrown, 'OUTCOME_UNKNOWN')) throw thrown;
      const error = thrown.message;
      await this.#options.memory.ingestToolResults(
        [{ callId: spec.id, toolName: spec.name, error }],
        call.turnId,
      );
      return { result: null, error };
    }
  }

  /** Why the call must not run; null if it may. */
  async #refusal(
    spec: ToolCallSpec,
    call: LedgerCall,
    run: CallRun,
  ): Promise<string | typeof LEFT_OPEN | null> {
    const { registry } = this.#options;
    const problem = registry.problemWith(spec.name, spec.arguments);
    if (problem !== null) return problem;
    return needsApproval(registry.get(spec.name)!, spec) ? this.#askApproval(spec, call, run) : null;
  }

  async #askApproval(
    spec: ToolCallSpec,
    call: LedgerCall,
    { recorded, signal }: CallRun,
  ): Promise<string | typeof LEFT_OPEN | null> {
    const { approve, memory, nowMs } = this.#options;
    if (!approve) return NO_APPROVER_TEXT;
    const expiresAt = await this.#requested(spec, call);
    const { callId, turnId, toolName } = call;
    const { decisionOn, recordDecision } = await import('./approval.js');
    const decision = await decisionOn({ memory, approve, recorded, expiresAt, nowMs }, call, {
      ...{ callId, turnId, toolName, arguments: spec.arguments, signal },
    });
    if (signal.aborted || !decision) return keepsApprovals(signal) ? LEFT_OPEN : NOT_STARTED_TEXT;
    await recordDecision(memory, call, decision);
    return decision.approved ? null : notApprovedText(decision.reason);
  }

  /** When the request ends. It counts from the first one, also over restarts. */
  async #requested(spec: ToolCallSpec, call: LedgerCall): Promise<number | null> {
    const { memory, approvalExpiresMs, nowMs } = this.#options;
    const known = memory.ledger.pendingApproval(call);
    const expiresAt = known ? known.expiresAt : approvalExpiresMs && nowMs() + approvalExpiresMs;
    if (!known) await memory.ledger.approvalRequested(call, null, expiresAt);
    this.#options.onApprovalRequested(spec, call.turnId);
    return expiresAt;
  }

  #tell(call: LedgerCall, outcome: { readonly result: JsonValue; readonly error: string | null }): void {
    this.#options.onResult({ callId: call.callId, toolName: call.toolName, ...outcome }, call.turnId);
  }
}

function notApprovedText(reason: string | null | undefined): string {
  return reason ? `${NOT_APPROVED_TEXT} Reason: ${reason}` : NOT_APPROVED_TEXT;
}

function needsApproval(tool: ToolDefinition, spec: ToolCallSpec): boolean {
  if (typeof tool.needsApproval !== 'function') return tool.needsApproval ?? false;
  try {
    return tool.needsApproval(spec.arguments as JsonObject);
  } catch {
    return true; // if it is unknown, ask
  }
}
