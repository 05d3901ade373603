/** How much of a context was already examined: a context mostly grows at its end, so old messages need no second look. */
import type { Message } from '../messages/message.js';
import type { ContextView } from './working-context-snapshot.js';

export interface SeenContext {
  /** Number of examined messages. */
  readonly count: number;
  /** The value of `ContextView.changes` at that time. */
  readonly changes: number;
}

export const NOTHING_SEEN: SeenContext = { count: 0, changes: -1 };

/** False if an examined message may have changed or been removed. */
export function hasOnlyGrown(seen: SeenContext, { changes }: ContextView): boolean {
  return seen.changes === changes;
}

/** The new messages; all messages if the context has not only grown. */
export function unseen(seen: SeenContext, context: ContextView): readonly Message[] {
  return context.messages.slice(hasOnlyGrown(seen, context) ? seen.count : 0);
}

export function seenOf({ messages, changes }: ContextView): SeenContext {
  return { count: messages.length, changes };
}
