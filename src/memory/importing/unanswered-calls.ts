/** The calls of a transcript without a result, with their turns. */
import { turnNumber } from '../../core/ids.js';
import { type Message, type ToolCallSpec, toolCallsOf, toolResultOf } from '../../messages/message.js';
import type { LedgerCall } from '../store/tool-call-ledger.js';

export class UnansweredCalls {
  /** By call id, newest last: tools reuse ids. */
  readonly #waiting = new Map<string, LedgerCall[]>();

  /** Stored under the ids that the rows have, without lone surrogates. */
  add(spec: ToolCallSpec, turnId: string): void {
    const id = spec.id.toWellFormed();
    const name = spec.name.toWellFormed();
    const call: LedgerCall = { callId: id, turnId, toolName: name };
    const waiting = this.#waiting.get(id);
    if (waiting) waiting.push(call);
    else this.#waiting.set(id, [call]);
  }

  /** Removes and returns the newest call with this id; undefined if none is waiting. */
  answer(given: string): LedgerCall | undefined {
    const callId = given.toWellFormed();
    const waiting = this.#waiting.get(callId);
    const newest = waiting?.pop();
    if (waiting?.length === 0) this.#waiting.delete(callId);
    return newest;
  }

  /** After a compaction only the calls that it kept are in the context, in the turns that it assigned. */
  keepOnly(messages: readonly Message[]): void {
    this.#waiting.clear();
    for (const message of messages) {
      for (const call of toolCallsOf(message)) this.add(call, message.turnId ?? '');
      const result = toolResultOf(message);
      if (result) this.answer(result.toolCallId);
    }
  }

  /** Sorted by turn: the ledger is read backward, up to the oldest turn that is requested. */
  all(): LedgerCall[] {
    return [...this.#waiting.values()]
      .flat()
      .sort((left, right) => turnNumber(left.turnId) - turnNumber(right.turnId));
  }
}
