/**
 * Holds back calls, and the results directly after them, until their batch is complete. Calls of one response that were
 * recorded separately are joined, and a result finds its call under another spelling of the id, by the same rules that
 * repair a whole list.
 */
import { mendMessage } from '../../messages/legality/history.js';
import { joinBatches } from '../../messages/legality/pairing-rule.js';
import { type Message, toolCallsOf } from '../../messages/message.js';

export interface DatedMessage {
  readonly message: Message;
  /** Seconds since 1970; null if unknown. */
  readonly ts: number | null;
}

export class CallBatches {
  #batch: DatedMessage[] = [];
  /** Blank messages inside the batch. They are in no list. */
  #blank: DatedMessage[] = [];
  #hasResults = false;
  readonly #isKnown: (callId: string) => boolean;

  /** @param isKnown whether a call of the context built so far had the id */
  constructor(isKnown: (callId: string) => boolean) {
    this.#isKnown = isKnown;
  }

  /** Returns, in order, the messages that no longer have to wait. */
  add(dated: DatedMessage): readonly DatedMessage[] {
    const { message } = dated;
    const isOpen = this.#batch.length > 0;
    const isResult = message.role === 'tool';
    const isCall = toolCallsOf(message).length > 0;
    if (isOpen && mendMessage(message) === null) {
      this.#blank.push(dated);
      return [];
    }
    if (isOpen ? isResult || (isCall && !this.#hasResults) : isCall) {
      this.#batch.push(dated);
      this.#hasResults = isResult;
      return [];
    }
    const before = this.end();
    return isCall ? [...before, ...this.add(dated)] : [...before, dated];
  }

  end(): readonly DatedMessage[] {
    const batch = this.#batch;
    const blank = this.#blank;
    this.#batch = [];
    this.#blank = [];
    this.#hasResults = false;
    return batch.length > 1 ? [...joined(batch, this.#isKnown), ...blank] : [...batch, ...blank];
  }
}

/** Unchanged, unless something has to be joined. */
function joined(
  batch: readonly DatedMessage[],
  isKnown: (callId: string) => boolean,
): readonly DatedMessage[] {
  const messages = batch.map(({ message }) => mendMessage(message) ?? message);
  const result = joinBatches({ messages, origins: null }, [], isKnown).messages;
  if (result === messages) return batch;
  const times = new Map(messages.map((message, index) => [message, batch[index]!.ts]));
  let last = batch[0]!.ts;
  return result.map((message) => {
    last = times.get(message) ?? last;
    return { message, ts: last };
  });
}
