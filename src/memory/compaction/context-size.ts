/**
 * How large the context is, kept up to date by looking only at what is new. Tokens are counted only once the bytes, which
 * bound them from above, pass the limit.
 */
import type { Message } from '../../messages/message.js';
import { hasGrownFrom, type SeenMessages } from '../seen-messages.js';
import { type TokenCounter, tokenBound } from './token-counter.js';

interface Total extends SeenMessages {
  count: number;
  last: Message | undefined;
  sum: number;
}

export class ContextSize {
  readonly #counter: TokenCounter;
  #bytes: Total = { count: 0, last: undefined, sum: 0 };
  #tokens: Total = { count: 0, last: undefined, sum: 0 };

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** The tokens when they may reach the limit; null when they surely do not. */
  async tokensNear(messages: readonly Message[], limitTokens: number): Promise<number | null> {
    this.#bytes = fresh(this.#bytes, messages);
    for (const message of messages.slice(this.#bytes.count)) this.#bytes.sum += tokenBound(message);
    mark(this.#bytes, messages);
    return this.#bytes.sum < limitTokens ? null : this.tokens(messages);
  }

  async tokens(messages: readonly Message[]): Promise<number> {
    const total = fresh(this.#tokens, messages);
    const copy = messages.slice(total.count);
    const sum = total.sum + (await this.#counter.countMessages(copy));
    this.#tokens = { count: total.count + copy.length, last: copy.at(-1) ?? total.last, sum };
    return sum;
  }

  /** After messages changed at their places: everything is looked at once more. */
  reset(): void {
    this.#bytes = { count: 0, last: undefined, sum: 0 };
    this.#tokens = { count: 0, last: undefined, sum: 0 };
  }
}

function fresh(total: Total, messages: readonly Message[]): Total {
  return hasGrownFrom(total, messages) ? total : { count: 0, last: undefined, sum: 0 };
}

function mark(total: Total, messages: readonly Message[]): void {
  total.count = messages.length;
  total.last = messages.at(-1);
}
