/**
 * Marks that Rekindle sets on messages: `kind` (one of our summaries), `pinned` (no compaction removes it), `synthetic`
 * (written by Rekindle). Only our own snapshots and exports may set them. In other files anyone could have set them, so
 * the import ignores them.
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
