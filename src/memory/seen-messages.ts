/** How far a list was looked at: lists grow at their end, and what was seen need not be looked at again. */
import type { Message } from '../messages/message.js';

export interface SeenMessages {
  readonly count: number;
  /** The last of them: when another stands in its place, the list is another one. */
  readonly last: Message | undefined;
}

export function hasGrownFrom({ count, last }: SeenMessages, messages: readonly Message[]): boolean {
  return count <= messages.length && (count === 0 || messages[count - 1] === last);
}
