/**
 * What stays of the list when a compaction fills the room that a request has: as much as fits as it is, newest first. Where the step
 * before that is too large, it and older ones stay with what is long in them taken out, as long as they fit.
 */
import type { Message } from '../../messages/message.js';
import { fillCut, keptInFront } from './select-cut.js';
import type { TokenCounter } from './token-counter.js';

/** How a message gets smaller that would not fit whole. Contract of `shrink`: what it takes out is durable when it resolves. */
export interface Shrinking {
  /** Tokens that stay, about; null for a message that stays as it is or goes. */
  readonly tokensAfter: (message: Message) => number | null;
  readonly shrink: (message: Message) => Promise<Message>;
}

export interface FilledTail {
  /** The first message that stays. */
  readonly cut: number;
  /** Places of messages that stay smaller. */
  readonly smaller: ReadonlySet<number>;
}

/** @param memoryTokens what the memory message takes once these messages are in it */
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
