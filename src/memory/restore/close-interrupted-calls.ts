/**
 * Step 5: each call without a result gets its verdict and a result. Runs no tool.
 *
 * `finished`: the ledger holds the result, and it is used. `not_started`: the ledger has no start. `outcome_unknown`: it was
 * started, and nobody recorded its end; the text tells the model to verify. The texts hold no time and no random part, so
 * that two restores of the same folder give the same bytes.
 */
import { OUTCOME_UNKNOWN_TEXT } from '../../messages/legality/pairing-rule.js';
import type { ToolResultInput } from '../memory-input.js';
import type { CallVerdict, LedgerCall, ToolCallLedger } from '../store/tool-call-ledger.js';
import type { OpenCall } from '../working-context-snapshot.js';
import type { InterruptedCall } from './restore-report.js';

const NOT_STARTED_TEXT =
  'Interrupted: the process stopped before this call was started, so it had no effect. Call the tool again if it is still needed.';
const APPROVAL_TEXT =
  'Interrupted: the process stopped while this call waited for approval. It was not approved and had no effect.';
const RESULT_IN_TRACES_TEXT =
  'Interrupted: this call was finished, but its result was not kept. Check its effects before you repeat it.';

export interface ClosedCalls {
  readonly calls: readonly InterruptedCall[];
  readonly results: readonly ToolResultInput[];
}

export async function closeInterruptedCalls(
  open: readonly OpenCall[],
  ledger: ToolCallLedger,
  options: { readonly keepPendingApprovals: boolean },
): Promise<ClosedCalls> {
  const known = open.map((item) => ({ item, call: ledgerCall(item) }));
  await ledger.load(known.map(({ call }) => call));
  const calls: InterruptedCall[] = [];
  const results: ToolResultInput[] = [];
  for (const { item, call } of known) {
    const { verdict, outcome, approval } = ledger.verdictOn(call);
    const approvalPending = verdict === 'not_started' && approval === 'pending';
    const leftOpen = approvalPending && options.keepPendingApprovals;
    calls.push({
      callId: call.callId,
      toolName: call.toolName,
      turnId: item.turnId ?? null,
      messageIndex: item.messageIndex,
      verdict,
      approvalPending,
      leftOpen,
    });
    if (leftOpen) continue;
    const base = { callId: call.callId, toolName: call.toolName, turnId: call.turnId };
    if (outcome) results.push({ ...base, result: outcome.result, error: outcome.error });
    else results.push({ ...base, error: textFor(verdict, approvalPending), synthetic: true });
  }
  return { calls, results };
}

function ledgerCall(open: OpenCall): LedgerCall {
  return { callId: open.call.id, turnId: open.turnId ?? '', toolName: open.call.name };
}

function textFor(verdict: CallVerdict, approvalPending: boolean): string {
  if (approvalPending) return APPROVAL_TEXT;
  if (verdict === 'not_started') return NOT_STARTED_TEXT;
  return verdict === 'finished' ? RESULT_IN_TRACES_TEXT : OUTCOME_UNKNOWN_TEXT;
}
