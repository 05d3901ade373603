/** Calls of an open turn that wait for a person's approval, or for a result of the client. */
import type { MemoryManager } from '../../memory/memory-manager.js';
import { ledgerCall, waitsForOf } from '../../memory/restore/close-interrupted-calls.js';
import type { WaitingCall } from '../../messages/projections/projection.js';

/** By call id. */
export function waitingCalls(memory: MemoryManager): Map<string, WaitingCall> {
  const waiting = new Map<string, WaitingCall>();
  for (const open of memory.openCalls()) {
    const state = memory.ledger.verdictOn(ledgerCall(open));
    const waitsFor = waitsForOf(state);
    if (waitsFor === null) continue;
    const { request, response } = state;
    waiting.set(open.call.id, {
      waitsFor,
      ...(request ? { request } : {}),
      ...(response ? { response } : {}),
    });
  }
  return waiting;
}

/** The call that an approval request of the AI SDK is about. */
export function callOfApproval(memory: MemoryManager, approvalId: string): string | undefined {
  for (const [callId, { request }] of waitingCalls(memory)) {
    if (request?.['approvalId'] === approvalId) return callId;
  }
  return undefined;
}
