/** The two kinds of rules: for a single message, and for the whole list. */
import type { Message } from '../message.js';
import type { HistoryFacts, Repair, RepairCode, RuleId, Violation } from './repairs.js';

/** Called for each fault that a message rule fixes. */
export type Note = (code: RepairCode, reason: string, callId?: string) => void;

export interface MessageRule {
  readonly rule: RuleId;
  /** The message without the fault: the same object if it has none, null if nothing of it is left. */
  mend(message: Message, note: Note): Message | null;
}

/** A list under repair, with the original position of each message. */
export interface DraftHistory {
  readonly messages: readonly Message[];
  /** Index in the given list, by the index in this one; null while they are the same. */
  readonly origins: readonly number[] | null;
}

export interface ListRule {
  check(messages: readonly Message[]): Violation[];
  /** The same draft if there is nothing to fix. */
  repair(draft: DraftHistory, facts: HistoryFacts, repairs: Repair[]): DraftHistory;
}

export function originOf(draft: DraftHistory, index: number): number {
  return draft.origins?.[index] ?? index;
}

/** Builds a changed list and keeps the origin of each message. */
export class DraftBuilder {
  readonly messages: Message[] = [];
  readonly #origins: number[] = [];
  readonly #from: DraftHistory;

  constructor(from: DraftHistory) {
    this.#from = from;
  }

  /** @param index of the message in the previous draft, or of the message that it belongs to */
  add(message: Message, index: number): void {
    this.messages.push(message);
    this.#origins.push(originOf(this.#from, index));
  }

  build(): DraftHistory {
    return { messages: this.messages, origins: this.#origins };
  }
}
