/** Which results come late: their call went with a compaction while the job ran on, and something was said since (H5). */
import { type Message, toolResultOf } from '../message.js';

export class SinceSummary {
  #hasSummary = false;
  #wasSaid = false;

  /** Whether `add` of this message can change anything. */
  concerns(message: Message): boolean {
    return !this.#wasSaid && (this.#hasSummary || isSummary(message));
  }

  /** The next message of the list that is not a result. */
  add(message: Message): void {
    if (this.#hasSummary) this.#wasSaid = true;
    else this.#hasSummary = isSummary(message);
  }

  /** Of a result whose call is not in the list. */
  isLate(message: Message): boolean {
    return this.#wasSaid && !message.synthetic && toolResultOf(message) !== null;
  }
}

function isSummary({ kind, role }: Message): boolean {
  return kind === 'memory' && role !== 'tool' && role !== 'system';
}
