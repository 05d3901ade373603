/** What a rule is: about one message by itself, or about the whole list. */
import type { Message } from '../message.js';
import type { HistoryFacts, Repair, RepairCode, RuleId, Violation } from './repairs.js';

/** Told of each fault that a message rule mends. */
export type Note = (code: RepairCode, reason: string, callId?: string) => void;

export interface MessageRule {
  readonly rule: RuleId;
  /** The message without the fault; the same object when it has none; null when nothing of it is left. */
  mend(message: Message, note: Note): Message | null;
}

/** A list under repair, and where its messages stood in the list that was given. */
export interface DraftHistory {
  readonly messages: readonly Message[];
  /** Index in the given list, by the index here; null while they are the same. */
  readonly origins: readonly number[] | null;
}

export interface ListRule {
  check(messages: readonly Message[]): Violation[];
  /** The same draft when there is nothing to mend. */
  repair(draft: DraftHistory, facts: HistoryFacts, repairs: Repair[]): DraftHistory;
}

export function originOf(draft: DraftHistory, index: number): number {
  return draft.origins?.[index] ?? index;
}

/** Collects a changed list together with where each message came from. */
export class DraftBuilder {
  readonly messages: Message[] = [];
  readonly #origins: number[] = [];
  readonly #from: DraftHistory;

  constructor(from: DraftHistory) {
    this.#from = from;
  }

  /** @param index of the message in the draft before, or of the one that it belongs to */
  add(message: Message, index: number): void {
    this.messages.push(message);
    this.#origins.push(originOf(this.#from, index));
  }

  build(): DraftHistory {
    return { messages: this.messages, origins: this.#origins };
  }
}
