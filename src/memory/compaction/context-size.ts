/**
 * Tracks the size of the context by looking only at new messages. Bytes are an upper bound for tokens, so tokens are
 * counted only once the bytes exceed the limit.
 */
import { hasOnlyGrown, NOTHING_SEEN, type SeenContext, seenOf, unseen } from '../seen-context.js';
import type { ContextView } from '../working-context-snapshot.js';
import { type TokenCounter, tokenBound } from './token-counter.js';

interface Total {
  readonly seen: SeenContext;
  /** Sum over the messages seen so far. */
  readonly sum: number;
}

const NOTHING: Total = { seen: NOTHING_SEEN, sum: 0 };

export class ContextSize {
  readonly #counter: TokenCounter;
  #bytes = NOTHING;
  #tokens = NOTHING;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** The tokens if they may reach the limit; null if they certainly do not. */
  async tokensNear(context: ContextView, limitTokens: number): Promise<number | null> {
    let sum = sumBefore(this.#bytes, context);
    for (const message of unseen(this.#bytes.seen, context)) sum += tokenBound(message);
    this.#bytes = { seen: seenOf(context), sum };
    return sum < limitTokens ? null : this.tokens(context);
  }

  async tokens(context: ContextView): Promise<number> {
    const [before, seen] = [sumBefore(this.#tokens, context), seenOf(context)];
    const sum = before + (await this.#counter.countMessages(unseen(this.#tokens.seen, context)));
    this.#tokens = { seen, sum };
    return sum;
  }
}

function sumBefore({ seen, sum }: Total, context: ContextView): number {
  return hasOnlyGrown(seen, context) ? sum : 0;
}
