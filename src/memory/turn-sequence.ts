/** Numbers the traces of a turn from 1. Goes on after a restore; a late trace of an older turn does not disturb the current one. */
import type { MemoryState } from './working-context-reducer.js';

export class TurnSequence {
  readonly #last = new Map<string, number>();

  next(turnId: string, state: MemoryState): number {
    const known = this.#last.get(turnId);
    const seq = (known ?? (state.turnId === turnId ? state.turnSeq : lowestFree(turnId, state))) + 1;
    this.#last.set(turnId, seq);
    if (this.#last.size > 16) this.#last.delete(this.#last.keys().next().value!);
    return seq;
  }
}

/** At least as many traces as the turn has messages in the context were written. */
function lowestFree(turnId: string, state: MemoryState): number {
  if (turnId === '') return 0;
  let count = 0;
  for (let index = state.snapshot.length - 1; index >= 0; index -= 1) {
    const own = state.snapshot.messages[index]!.turnId;
    if (own === turnId) count += 1;
    else if (own !== undefined && own < turnId) break; // turns are in order: nothing of it lies before
  }
  return count;
}
