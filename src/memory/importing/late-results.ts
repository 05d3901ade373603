/** Results whose calls went with a compaction while the job ran on: their texts stay as notes, as in a repaired list (H5). */
import { IdTable } from '../../messages/importers/reading/id-table.js';
import { mendMessage } from '../../messages/legality/history.js';
import { asNote } from '../../messages/legality/pairing-rule.js';
import { SinceSummary } from '../../messages/legality/since-summary.js';
import { type Message, toolCallsOf, toolResultOf } from '../../messages/message.js';

export class LateResults {
  /** Of the calls that the context has. */
  #calls = new IdTable();
  #since = new SinceSummary();

  /** A message that is not a result. */
  said(message: Message): void {
    for (const { id } of toolCallsOf(message)) this.#calls.numberOf(id.toWellFormed());
    if (this.#since.concerns(message) && mendMessage(message)) this.#since.add(message);
  }

  /** Null where the call is known, or nothing was taken away. */
  noteOf(message: Message): Message | null {
    const result = toolResultOf(message);
    if (!result || !this.#since.isLate(message) || this.knows(result.toolCallId)) return null;
    return asNote(mendMessage(message)!);
  }

  /** Whether a call of the context has the id. */
  knows(callId: string): boolean {
    return this.#calls.find(callId.toWellFormed()) >= 0;
  }

  /** After a compaction. */
  keepOnly(messages: readonly Message[]): void {
    this.#calls = new IdTable();
    this.#since = new SinceSummary();
    for (const message of messages) if (message.role !== 'tool') this.said(message);
  }
}
