/**
 * Numbers the traces of a turn from 1. Continues after a restore; a late trace of an older turn does not affect the
 * current one.
 */
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

/** The turn has at least as many traces as it has messages in the context. */
function lowestFree(turnId: string, state: MemoryState): number {
  if (turnId === '') return 0;
  let count = 0;
  for (let index = state.snapshot.length - 1; index >= 0; index -= 1) {
    const own = state.snapshot.messages[index]!.turnId;
    if (own === turnId) count += 1;
    else if (own !== undefined && own < turnId) break; // turns are in order, so there are no earlier messages of it
  }
  return count;
}
