/** The calls of a transcript that wait for their result, with the turns that they stand in. */
import { turnNumber } from '../../core/ids.js';
import { type Message, type ToolCallSpec, toolCallsOf, toolResultOf } from '../../messages/message.js';
import type { LedgerCall } from '../store/tool-call-ledger.js';

export class UnansweredCalls {
  /** By call id, the newest last: tools use ids again. */
  readonly #waiting = new Map<string, LedgerCall[]>();

  /** Under the ids that the rows have: half characters are no text. */
  add(spec: ToolCallSpec, turnId: string): void {
    const id = spec.id.toWellFormed();
    const name = spec.name.toWellFormed();
    const call: LedgerCall = { callId: id, turnId, toolName: name };
    const waiting = this.#waiting.get(id);
    if (waiting) waiting.push(call);
    else this.#waiting.set(id, [call]);
  }

  /** The newest call of this id, which has its result now; undefined when none waits. */
  answer(given: string): LedgerCall | undefined {
    const callId = given.toWellFormed();
    const waiting = this.#waiting.get(callId);
    const newest = waiting?.pop();
    if (waiting?.length === 0) this.#waiting.delete(callId);
    return newest;
  }

  /** After a compaction only the calls that it kept are in the context, in the turns that it left them. */
  keepOnly(messages: readonly Message[]): void {
    this.#waiting.clear();
    for (const message of messages) {
      for (const call of toolCallsOf(message)) this.add(call, message.turnId ?? '');
      const result = toolResultOf(message);
      if (result) this.answer(result.toolCallId);
    }
  }

  /** By turn: the ledger is read backwards, as far as the oldest turn that is asked for. */
  all(): LedgerCall[] {
    return [...this.#waiting.values()]
      .flat()
      .sort((left, right) => turnNumber(left.turnId) - turnNumber(right.turnId));
  }
}
