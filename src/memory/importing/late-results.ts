/**
 * Results whose calls were compacted away while the job kept running: their texts are kept as notes, as in a repaired
 * list (H5).
 */
import { IdTable } from '../../messages/importers/reading/id-table.js';
import { mendMessage } from '../../messages/legality/history.js';
import { asNote } from '../../messages/legality/pairing-rule.js';
import { SinceSummary } from '../../messages/legality/since-summary.js';
import { type Message, toolCallsOf, toolResultOf } from '../../messages/message.js';

export class LateResults {
  /** Ids of the calls in the context. */
  #calls = new IdTable();
  #since = new SinceSummary();

  /** Adds a message that is not a result. */
  said(message: Message): void {
    for (const { id } of toolCallsOf(message)) this.#calls.numberOf(id.toWellFormed());
    if (this.#since.concerns(message) && mendMessage(message)) this.#since.add(message);
  }

  /** Null if the call is known, or if nothing was compacted away. */
  noteOf(message: Message): Message | null {
    const result = toolResultOf(message);
    if (!result || !this.#since.isLate(message) || this.knows(result.toolCallId)) return null;
    return asNote(mendMessage(message)!);
  }

  /** Whether a call in the context has the id. */
  knows(callId: string): boolean {
    return this.#calls.find(callId.toWellFormed()) >= 0;
  }

  /** Call after a compaction. */
  keepOnly(messages: readonly Message[]): void {
    this.#calls = new IdTable();
    this.#since = new SinceSummary();
    for (const message of messages) if (message.role !== 'tool') this.said(message);
  }
}
