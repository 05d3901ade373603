/**
 * What stays of the list when a compaction fills the space that a request has: as much as fits unchanged, newest first.
 * If the step before that is too large, it and older steps stay with their long texts taken out, as long as they fit.
 */
import type { Message } from '../../messages/message.js';
import { fillCut, keptInFront } from './select-cut.js';
import type { TokenCounter } from './token-counter.js';

/** How to shorten a message that does not fit whole. Contract of `shrink`: what it takes out is durable when it resolves. */
export interface Shrinking {
  /** Approximate tokens after shortening; null for a message that is never shortened. */
  readonly tokensAfter: (message: Message) => number | null;
  readonly shrink: (message: Message) => Promise<Message>;
}

export interface FilledTail {
  /** The first message that stays. */
  readonly cut: number;
  /** Positions of messages that stay shortened. */
  readonly smaller: ReadonlySet<number>;
}

/** @param memoryTokens size of the memory message once these messages are in it */
export async function filledTail(
  messages: readonly Message[],
  room: { readonly tokens: number; readonly memoryTokensMax: number },
  memoryTokens: (going: readonly Message[]) => Promise<number>,
  counter: TokenCounter,
  shrinking: Shrinking | undefined,
): Promise<FilledTail> {
  const kept = keptInFront(messages);
  const sizes: number[] = [];
  for (const [index, message] of messages.entries()) {
    const goes = message.kind !== undefined && !kept[index];
    sizes.push(goes ? 0 : await counter.countMessages([message]));
  }
  const most = fillCut(messages, sizes, room.tokens - room.memoryTokensMax);
  const going = messages.filter(
    ({ role, kind }, index) => index < most && !kept[index] && role !== 'system' && kind === undefined,
  );
  const left = room.tokens - (going.length === 0 ? 0 : await memoryTokens(going));
  const whole = fillCut(messages, sizes, left);
  if (!shrinking) return { cut: whole, smaller: new Set() };
  const after = messages.map((message, index) =>
    index < whole && !kept[index] ? shrinking.tokensAfter(message) : null,
  );
  const small = sizes.map((size, index) => Math.min(size, after[index] ?? size));
  const cut = fillCut(messages, small, left);
  const isSmaller = (index: number) => index >= cut && small[index]! < sizes[index]!;
  return { cut, smaller: new Set(messages.map((_, index) => index).filter(isSmaller)) };
}
