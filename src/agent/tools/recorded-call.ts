/**
 * Runs one call so that it never runs twice: it is in the ledger before the tool starts, and its result is in
 * the traces before anyone sees it. Every tool run, in this library's loop or a host's, goes through here.
 */
import { isRekindleError, messageOf, RekindleError } from '../../core/errors.js';
import type { OperationInit } from '../../core/telemetry.js';
import type { ToolContext } from '../../core/tool-definition.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { type LedgerCall, type LedgerOutcome, outcomeOf } from '../../memory/store/tool-call-ledger.js';
import type { ContentPart } from '../../messages/message.js';
import { onAbort } from './on-abort.js';

export interface RecordedCallOptions {
  readonly idempotent: boolean;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  /** Media that the model sees next to the result. Called when the tool has ended. */
  readonly parts?: () => readonly ContentPart[] | undefined;
}

/** @throws OUTCOME_UNKNOWN if an earlier process started it, and what the journal throws */
export async function runRecordedCall(
  memory: MemoryManager,
  call: LedgerCall,
  options: RecordedCallOptions,
  execute: (context: ToolContext) => Promise<unknown> | unknown,
): Promise<LedgerOutcome> {
  await memory.ledger.started(call, { idempotent: options.idempotent });
  const outcome = options.signal.aborted // meanwhile
    ? { result: null, error: NOT_STARTED_TEXT }
    : await outcomeOf(() => measuredTool(memory, call, () => withLimit(memory, call, options, execute)));
  return record(memory, call, outcome, options.parts?.());
}

function measuredTool(
  { store }: MemoryManager,
  { callId, toolName }: LedgerCall,
  run: () => Promise<unknown>,
): Promise<unknown> {
  const { telemetry } = store.backend;
  if (!telemetry) return run();
  const init: OperationInit = {
    operation: 'tool',
    name: `execute_tool ${toolName}`,
    labels: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': toolName },
    attributes: { 'gen_ai.tool.call.id': callId },
  };
  return telemetry.measure(init, run);
}

/**
 * A result that no journal accepts (it is too large) becomes an error that says so, because the call must not
 * stay open.
 */
async function record(
  memory: MemoryManager,
  call: LedgerCall,
  outcome: LedgerOutcome,
  parts: readonly ContentPart[] | undefined,
): Promise<LedgerOutcome> {
  const result = { callId: call.callId, toolName: call.toolName, ...outcome };
  try {
    const given = { ...result, ...(parts ? { parts } : {}) };
    const [recorded] = await memory.ingestToolResults([given], call.turnId);
    return { result: recorded!.toolResult, error: recorded!.toolError };
  } catch (thrown) {
    if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown;
    const refused = { result: null, error: `The tool ran, but its result cannot be kept: ${thrown.message}` };
    await memory.ingestToolResults([{ ...result, ...refused }], call.turnId);
    return refused;
  }
}

async function withLimit(
  memory: MemoryManager,
  call: LedgerCall,
  options: RecordedCallOptions,
  execute: (context: ToolContext) => Promise<unknown> | unknown,
): Promise<unknown> {
  const timeout = new AbortController();
  const signal = AbortSignal.any([options.signal, timeout.signal]);
  const { timeoutMs } = options;
  const timer =
    timeoutMs === undefined
      ? null
      : setTimeout(() => timeout.abort(new Error(timedOut(timeoutMs))), timeoutMs);
  let forget = () => {};
  // A tool that ignores the signal must not block the turn.
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(abortError(signal)));
  });
  try {
    const context = {
      callId: call.callId,
      turnId: call.turnId,
      idempotencyKey: keyFor(memory.agentId, call),
      signal,
    };
    return await Promise.race([runTool(execute, context), aborted]);
  } finally {
    if (timer) clearTimeout(timer);
    forget();
  }
}

/**
 * An error of a tool is always the tool's own, even if it is a `RekindleError`: a tool may run another agent.
 */
async function runTool(
  execute: (context: ToolContext) => Promise<unknown> | unknown,
  context: ToolContext,
): Promise<unknown> {
  try {
    return await execute(context);
  } catch (thrown) {
    throw new RekindleError('TOOL_FAILED', messageOf(thrown), { cause: thrown });
  }
}

function abortError(signal: AbortSignal): Error {
  const { reason } = signal;
  return reason instanceof Error && reason.name !== 'AbortError' ? reason : new Error(CANCELLED_TEXT);
}

export const NOT_STARTED_TEXT = 'Cancelled before it was started, so it had no effect.';
export const CANCELLED_TEXT =
  'Cancelled while it was running, so its outcome is unknown. Check its effects before you repeat it.';

function timedOut(ms: number): string {
  return `Timed out after ${ms} ms, so its outcome is unknown. Check its effects before you repeat it.`;
}

export function keyFor(agentId: string, call: LedgerCall): string {
  return `${agentId}/${call.turnId}/${call.callId}`;
}
