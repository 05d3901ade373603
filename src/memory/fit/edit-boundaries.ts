/** The traces of a rung that changes or removes messages at their positions. */
import type { Message } from '../../messages/message.js';
import type { Boundary } from '../models/trace.js';
import { boundaryBody, type TraceBody } from '../trace-bodies.js';

/** A shortened message, at its position in the list. */
export interface Edit {
  readonly at: number;
  readonly message: Message;
}

/** @param drops positions of messages to remove, in order */
export function boundariesOf(
  rung: 'clear' | 'trim',
  edits: readonly Edit[],
  drops: readonly number[],
): TraceBody[] {
  const sorted = edits.toSorted((a, b) => a.at - b.at);
  const edited: Boundary[] = sorted.length > 0 ? [{ kind: 'edit', rung, edits: sorted }] : [];
  // From the end, so that the other positions stay valid.
  const dropped = drops
    .toReversed()
    .map((at): Boundary => ({ kind: 'repair', at, deleteCount: 1, insert: [], codes: ['drop-recall'] }));
  return [...edited, ...dropped].map((boundary) => boundaryBody(boundary, 'Fit'));
}

/** A message that may be shortened, and how. Its artifacts are durable when `shrink` resolves. */
export interface Shrinkable {
  readonly at: number;
  readonly shrink: (message: Message) => Promise<Message>;
}

/** What a rung shortens, in this order, and what it removes. */
export interface Found {
  readonly smaller: readonly Shrinkable[];
  readonly drops: readonly number[];
}
