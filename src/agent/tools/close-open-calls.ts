/**
 * Gives calls that stayed open (for an approval, or after a disk failure) a result before the next message:
 * no provider accepts a call without one. Runs no tool.
 */
import type { MemoryManager } from '../../memory/memory-manager.js';
import { closeInterruptedCalls } from '../../memory/restore/close-interrupted-calls.js';

export async function closeOpenCalls(memory: MemoryManager): Promise<void> {
  const open = memory.openCalls();
  if (open.length === 0) return;
  const { results } = await closeInterruptedCalls(open, memory.ledger, {
    keepPendingApprovals: false,
    cutoff: 'next-turn',
  });
  await memory.closeCalls(results);
}
