/** Finds late results: their call was compacted away while the job kept running, and there were messages since (H5). */
import { type Message, toolResultOf } from '../message.js';

export class SinceSummary {
  #hasSummary = false;
  #wasSaid = false;

  /** Whether adding this message can change anything. */
  concerns(message: Message): boolean {
    return !this.#wasSaid && (this.#hasSummary || isSummary(message));
  }

  /** Adds the next message of the list that is not a result. */
  add(message: Message): void {
    if (this.#hasSummary) this.#wasSaid = true;
    else this.#hasSummary = isSummary(message);
  }

  /** For a result whose call is not in the list. */
  isLate(message: Message): boolean {
    return this.#wasSaid && !message.synthetic && toolResultOf(message) !== null;
  }
}

function isSummary({ kind, role }: Message): boolean {
  return kind === 'memory' && role !== 'tool' && role !== 'system';
}
