/**
 * Marks that say what Rekindle did: a summary of its own, a message that no compaction takes away, one that nobody said. They are
 * believed in a snapshot of ours, and nowhere else: whoever wrote a list of messages could give each of them any mark.
 */
import type { Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';

export function withoutMarks(message: Message, place: string, losses: LossAccount): Message {
  const { kind, pinned, synthetic, ...rest } = message;
  const given = Object.entries({ kind, pinned, synthetic }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (given.length === 0) return message;
  for (const name of given)
    losses.approximate(`the mark \`${name}\`, which counts in a snapshot of ours alone`, place);
  return rest;
}
