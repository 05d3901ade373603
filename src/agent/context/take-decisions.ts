/** Decisions of the inbox of approvals, for the loop of a host that uses the AI SDK's own approvals. */
import type { JsonObject } from '../../core/json.js';
import { argumentsHashOf, deleteDecision, readDecision } from '../../memory/approvals/stored-decision.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { ledgerCall } from '../../memory/restore/close-interrupted-calls.js';
import type { LedgerCall } from '../../memory/store/tool-call-ledger.js';
import type { HostMessage } from './host-message.js';

/**
 * Records the decisions on calls that wait, as if the client had returned them. The ledger keeps who decided.
 * @param step records messages of the open turn
 * @throws as the journal
 */
export async function takeDecisions(
  memory: MemoryManager,
  step: (messages: readonly HostMessage[]) => Promise<void>,
): Promise<number> {
  const { ledger, agentId, store } = memory;
  const taken: LedgerCall[] = [];
  const responses: JsonObject[] = [];
  for (const open of memory.openCalls()) {
    const call = ledgerCall(open);
    const { request, response } = ledger.verdictOn(call);
    if (!request || response) continue;
    const decision = await readDecision(store.backend, agentId, call, argumentsHashOf(open.call));
    if (!decision) continue;
    const { approved, reason } = decision;
    const { approvalId = null } = request;
    const answer = { type: 'tool-approval-response', approvalId, approved, ...(reason ? { reason } : {}) };
    await ledger.approvalDecided(call, decision, answer);
    responses.push(answer);
    taken.push(call);
  }
  if (taken.length > 0) await step([{ role: 'tool', content: responses } as unknown as HostMessage]);
  for (const call of taken) await deleteDecision(store.backend, agentId, call);
  return taken.length;
}
