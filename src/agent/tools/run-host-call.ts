/** Runs one call of a host's own loop, with the ledger around it. */
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import type { ToolContext } from '../../core/tool-definition.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { ARGUMENTS_GONE } from '../../memory/store/given-arguments.js';
import type { LedgerOutcome } from '../../memory/store/tool-call-ledger.js';
import { type ToolCallSpec, toolResultOf } from '../../messages/message.js';
import { type CallTarget, runLoggedCall } from './logged-call.js';

/** A recorded call for `runTool`. Take it from `RecordedAnswer.toolCalls`. */
export interface HostCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonValue;
}

/** Options of `runTool`. */
export interface RunToolOptions {
  /** Running it twice is harmless, so a call with an unknown outcome may be repeated. Default false. */
  readonly idempotent?: boolean;
  /** Default: none. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The part of the open turn that a call needs. */
interface RunningTurn {
  readonly turnId: string;
  callOf(callId: string): ToolCallSpec | undefined;
  once<T>(callId: string, run: () => Promise<T>): Promise<T>;
}

export async function runHostCall(
  target: CallTarget,
  turn: RunningTurn,
  given: HostCall,
  run: (args: JsonValue, context: ToolContext) => unknown,
  options: RunToolOptions,
): Promise<LedgerOutcome> {
  const { memory } = target;
  const recorded = turn.callOf(given.id);
  if (!recorded) {
    const text = `The turn has no call ${JSON.stringify(given.id)}. Give its response to recordResponse() first.`;
    throw new RekindleError('MESSAGE_INVALID', text, { details: { field: 'call', id: String(given.id) } });
  }
  const known = resultOf(memory, turn.turnId, given.id);
  if (known) return known;
  const { idempotent = false, timeoutMs, signal = new AbortController().signal } = options;
  const input = recorded.arguments;
  const call = { callId: given.id, turnId: turn.turnId, toolName: recorded.name, input };
  const limits = { idempotent, signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  return turn.once(given.id, () =>
    runLoggedCall(target, call, limits, (context) => {
      const args = memory.store.given.of(turn.turnId, recorded);
      if (args === undefined) throw new RekindleError('TOOL_FAILED', ARGUMENTS_GONE); // the result of the call
      return run(args, context);
    }),
  );
}

/** Null for a call without a real result. */
function resultOf(memory: MemoryManager, turnId: string, callId: string): LedgerOutcome | null {
  const found = memory.context.messages.findLast(
    (message) =>
      message.turnId === turnId && !message.synthetic && toolResultOf(message)?.toolCallId === callId,
  );
  const result = found && toolResultOf(found);
  return result ? { result: result.toolResult, error: result.toolError } : null;
}
