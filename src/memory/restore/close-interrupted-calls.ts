/**
 * Step 5: gives each call without a result a verdict and a result. Runs no tool.
 *
 * `finished`: the ledger holds the result, and it is used. `not_started`: the ledger has no start. `outcome_unknown`:
 * the call was started and has no recorded end, or another program made it and kept no ledger of ours; the text tells
 * the model to verify. The texts contain no time and no random part, so that two restores of the same folder give the
 * same bytes.
 */
import { OUTCOME_UNKNOWN_TEXT } from '../../messages/legality/pairing-rule.js';
import type { ToolResultInput } from '../memory-input.js';
import type { CallState, CallVerdict, LedgerCall, ToolCallLedger } from '../store/tool-call-ledger.js';
import type { OpenCall } from '../working-context-snapshot.js';
import type { InterruptedCall, WaitsFor } from './restore-report.js';

/** What interrupted a call: the end of its process, or a conversation that continued without it. */
export type Cutoff = 'restore' | 'next-turn';

const CUTOFFS = { restore: 'the process stopped', 'next-turn': 'the conversation went on' } as const;
const NOT_STARTED_TEXT = (cut: string) =>
  `Interrupted: ${cut} before this call was started, so it had no effect. Call the tool again if it is still needed.`;
const APPROVAL_TEXT = (cut: string) =>
  `Interrupted: ${cut} while this call waited for approval. It was not approved and had no effect.`;
const DENIED_TEXT = 'The call was not approved, so it did not run.';
const CLIENT_TEXT = (cut: string) =>
  `Interrupted: ${cut} while this call waited for its result from the client, and no result came.`;
const RESULT_IN_TRACES_TEXT =
  'Interrupted: this call was finished, but its result was not kept. Check its effects before you repeat it.';

export interface ClosedCalls {
  readonly calls: readonly InterruptedCall[];
  readonly results: readonly ToolResultInput[];
}

export interface CloseOptions {
  readonly keepPendingApprovals: boolean;
  readonly cutoff: Cutoff;
  /** The calls were made by a program without our ledger, so a missing start proves nothing. Default false. */
  readonly isForeign?: boolean;
}

export async function closeInterruptedCalls(
  open: readonly OpenCall[],
  ledger: ToolCallLedger,
  options: CloseOptions,
): Promise<ClosedCalls> {
  const known = open.map((item) => ({ item, call: ledgerCall(item) }));
  await ledger.load(known.map(({ call }) => call));
  const calls: InterruptedCall[] = [];
  const results: ToolResultInput[] = [];
  for (const { item, call } of known) {
    const state = ledger.verdictOn(call);
    const { outcome } = state;
    const waitsFor = waitsForOf(state);
    const isUnproven = options.isForeign === true && state.verdict === 'not_started' && waitsFor === null;
    const verdict = isUnproven ? 'outcome_unknown' : state.verdict;
    const leftOpen = waitsFor !== null && options.keepPendingApprovals;
    calls.push({
      callId: call.callId,
      toolName: call.toolName,
      turnId: item.turnId ?? null,
      messageIndex: item.messageIndex,
      verdict,
      approvalPending: verdict === 'not_started' && state.approval === 'pending',
      waitsFor,
      leftOpen,
    });
    if (leftOpen) continue;
    const base = { callId: call.callId, toolName: call.toolName, turnId: call.turnId };
    if (outcome) results.push({ ...base, result: outcome.result, error: outcome.error });
    else results.push({ ...base, error: textFor(verdict, state, options.cutoff), synthetic: true });
  }
  return { calls, results };
}

export function ledgerCall(open: OpenCall): LedgerCall {
  return { callId: open.call.id, turnId: open.turnId ?? '', toolName: open.call.name };
}

/**
 * Who a call that was not started waits for; null for other calls. A decision that the host's loop has not handled yet
 * counts as waiting.
 */
export function waitsForOf(state: CallState): WaitsFor | null {
  if (state.verdict !== 'not_started') return null;
  if (state.approval === 'pending' || state.request !== null) return 'approval';
  return state.atClient ? 'client' : null;
}

function textFor(verdict: CallVerdict, state: CallState, cutoff: Cutoff): string {
  const cut = CUTOFFS[cutoff];
  const waitsFor = waitsForOf(state);
  if (verdict === 'not_started' && state.approval === 'denied') return DENIED_TEXT;
  if (waitsFor === 'approval') return APPROVAL_TEXT(cut);
  if (waitsFor === 'client') return CLIENT_TEXT(cut);
  if (verdict === 'not_started') return NOT_STARTED_TEXT(cut);
  return verdict === 'finished' ? RESULT_IN_TRACES_TEXT : OUTCOME_UNKNOWN_TEXT;
}
