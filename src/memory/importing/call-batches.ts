/**
 * Holds calls, and the results right behind them, until their batch is whole. Calls of one response that were written apart are one
 * response, and a result finds its call under another spelling of the id, by the rules that repair a whole list.
 */
import { mendMessage } from '../../messages/legality/history.js';
import { joinBatches } from '../../messages/legality/pairing-rule.js';
import { type Message, toolCallsOf } from '../../messages/message.js';

export interface DatedMessage {
  readonly message: Message;
  /** Seconds; null where no time is known. */
  readonly ts: number | null;
}

export class CallBatches {
  #batch: DatedMessage[] = [];
  /** Blank messages inside the batch. No list has them. */
  #blank: DatedMessage[] = [];
  #hasResults = false;
  readonly #isKnown: (callId: string) => boolean;

  /** @param isKnown whether a call of the context that was given out had the id */
  constructor(isKnown: (callId: string) => boolean) {
    this.#isKnown = isKnown;
  }

  /** Returns the messages that wait for nothing more, in order. */
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

/** As they were given, unless something has to be joined. */
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
