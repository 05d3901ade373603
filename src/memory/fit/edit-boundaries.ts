/** The traces of a rung that changes messages at their places, or takes some out. */
import type { Message } from '../../messages/message.js';
import type { Boundary } from '../models/trace.js';
import { boundaryBody, type TraceBody } from '../trace-bodies.js';

/** A message that gets smaller, at its place in the list. */
export interface Edit {
  readonly at: number;
  readonly message: Message;
}

/** @param drops places of messages that go, in order */
export function boundariesOf(
  rung: 'clear' | 'trim',
  edits: readonly Edit[],
  drops: readonly number[],
): TraceBody[] {
  const sorted = edits.toSorted((a, b) => a.at - b.at);
  const edited: Boundary[] = sorted.length > 0 ? [{ kind: 'edit', rung, edits: sorted }] : [];
  // From the end, so that the places of the others stay what they are.
  const dropped = drops
    .toReversed()
    .map((at): Boundary => ({ kind: 'repair', at, deleteCount: 1, insert: [], codes: ['drop-recall'] }));
  return [...edited, ...dropped].map((boundary) => boundaryBody(boundary, 'Fit'));
}

/** A message that may get smaller, and how. Its artifacts are durable when `shrink` resolves. */
export interface Shrinkable {
  readonly at: number;
  readonly shrink: (message: Message) => Promise<Message>;
}

/** What a rung makes smaller, one after the other, and what it takes out. */
export interface Found {
  readonly smaller: readonly Shrinkable[];
  readonly drops: readonly number[];
}
