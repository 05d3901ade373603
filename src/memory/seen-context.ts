/** How far a context was looked at: a context mostly grows at its end, and what was seen need not be looked at again. */
import type { Message } from '../messages/message.js';
import type { ContextView } from './working-context-snapshot.js';

export interface SeenContext {
  /** Messages that were seen. */
  readonly count: number;
  /** What `ContextView.changes` was then. */
  readonly changes: number;
}

export const NOTHING_SEEN: SeenContext = { count: 0, changes: -1 };

/** False when a message that was seen may be another one now, or gone. */
export function hasOnlyGrown(seen: SeenContext, { changes }: ContextView): boolean {
  return seen.changes === changes;
}

/** The new messages; all of them unless the context has only grown. */
export function unseen(seen: SeenContext, context: ContextView): readonly Message[] {
  return context.messages.slice(hasOnlyGrown(seen, context) ? seen.count : 0);
}

export function seenOf({ messages, changes }: ContextView): SeenContext {
  return { count: messages.length, changes };
}
