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
import { onAbort } from './on-abort.js';
import { NOT_STARTED_TEXT, runRecordedCall } from './recorded-call.js';
import type { ToolRegistry } from './tool-registry.js';

/** A tool call that needs a decision. */
export interface ApprovalRequest {
  readonly callId: string;
  readonly turnId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
  readonly signal: AbortSignal;
}

/** Asks a person or a policy. Anything other than true, or a rejection, means: not approved. */
export type Approve = (request: ApprovalRequest) => Promise<boolean> | boolean;

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
  readonly approve: Approve | null;
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
        : await this.#refusal(spec, call, signal);
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
    signal: AbortSignal,
  ): Promise<string | typeof LEFT_OPEN | null> {
    const { registry } = this.#options;
    const problem = registry.problemWith(spec.name, spec.arguments);
    if (problem !== null) return problem;
    return needsApproval(registry.get(spec.name)!, spec) ? this.#askApproval(spec, call, signal) : null;
  }

  async #askApproval(
    spec: ToolCallSpec,
    call: LedgerCall,
    signal: AbortSignal,
  ): Promise<string | typeof LEFT_OPEN | null> {
    const { approve, memory } = this.#options;
    if (!approve) return NO_APPROVER_TEXT;
    await memory.ledger.approvalRequested(call);
    this.#options.onApprovalRequested(spec, call.turnId);
    const approved = await decision(approve, {
      callId: spec.id,
      turnId: call.turnId,
      toolName: spec.name,
      arguments: spec.arguments,
      signal,
    });
    if (signal.aborted) return keepsApprovals(signal) ? LEFT_OPEN : NOT_STARTED_TEXT;
    await memory.ledger.approvalDecided(call, approved);
    return approved ? null : NOT_APPROVED_TEXT;
  }

  #tell(call: LedgerCall, outcome: { readonly result: JsonValue; readonly error: string | null }): void {
    this.#options.onResult({ callId: call.callId, toolName: call.toolName, ...outcome }, call.turnId);
  }
}

function needsApproval(tool: ToolDefinition, spec: ToolCallSpec): boolean {
  if (typeof tool.needsApproval !== 'function') return tool.needsApproval ?? false;
  try {
    return tool.needsApproval(spec.arguments as JsonObject);
  } catch {
    return true; // if it is unknown, ask
  }
}

async function decision(approve: Approve, request: ApprovalRequest): Promise<boolean> {
  let forget = () => {};
  const cancelled = new Promise<boolean>((resolve) => {
    forget = onAbort(request.signal, () => resolve(false));
  });
  try {
    return (await Promise.race([approve(request), cancelled])) === true;
  } catch {
    return false;
  } finally {
    forget();
  }
}
