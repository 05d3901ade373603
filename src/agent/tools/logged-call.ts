/** Runs one call of a host's loop as `runRecordedCall` does, and writes it to the tool-call log if there is one. */
import type { JsonValue } from '../../core/json.js';
import type { ToolContext } from '../../core/tool-definition.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import type { LedgerCall, LedgerOutcome } from '../../memory/store/tool-call-ledger.js';
import type { CallRecorder } from './call-recorder.js';
import { type RecordedCallOptions, runRecordedCall } from './recorded-call.js';

export interface CallTarget {
  readonly memory: MemoryManager;
  /** Null: no log. */
  readonly log: CallRecorder | null;
}

/** @throws as `runRecordedCall` */
export async function runLoggedCall(
  { memory, log }: CallTarget,
  call: LedgerCall & { readonly input: JsonValue },
  options: RecordedCallOptions,
  execute: (context: ToolContext) => Promise<unknown> | unknown,
): Promise<LedgerOutcome> {
  const { callId, toolName, turnId, input } = call;
  log?.begun({ id: callId, name: toolName, arguments: input });
  const outcome = await runRecordedCall(memory, { callId, toolName, turnId }, options, execute);
  log?.ended({ callId, toolName, ...outcome }, turnId);
  return outcome;
}
