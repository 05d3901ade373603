/** The trace of a context that the host sets as a whole: a new epoch. */
import { repairHistory } from '../messages/legality/history.js';
import type { Repair } from '../messages/legality/repairs.js';
import type { Message } from '../messages/message.js';
import type { Boundary } from './models/trace.js';
import type { MemoryState } from './working-context-reducer.js';

/** @param onMended called for everything that was not legal. Calls without a result stay open: the host answers them. */
export function resetBoundary(
  { snapshot, lastTurn }: MemoryState,
  given: Iterable<Message>,
  reason: string,
  nowMs: number,
  onMended: (repair: Omit<Repair, 'messageIndex'>) => void,
): Boundary {
  const keepOpen = { has: () => true }; // whatever their ids become
  const { messages, repairs } = repairHistory([...given], { keepOpen });
  for (const { messageIndex: _, ...repair } of repairs) onMended(repair);
  const epochId = snapshot.epochId + 1;
  return { kind: 'base', reason, messages, epochId, lastCompactionTs: nowMs / 1000, lastTurn };
}
