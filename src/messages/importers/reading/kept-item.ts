/** Items of a transcript, counted as kept. */
import type { Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import type { TranscriptItem } from '../transcript.js';
import { keepMessage } from './keep-message.js';

type Time = { readonly ts?: number };

export function keptItem(message: Message, losses: LossAccount, time: Time = {}): TranscriptItem {
  keepMessage(message, losses);
  return { kind: 'message', message, ...time };
}

/** The context continues from the summary alone. Null for a blank summary, which is counted as dropped. */
export function summaryItem(
  summary: string | undefined,
  losses: LossAccount,
  place: string,
  time: Time = {},
): TranscriptItem | null {
  if (summary === undefined || summary.trim() === '') {
    losses.drop('compaction without a summary', place);
    return null;
  }
  losses.approximate('history after a compaction, as its summary alone', place);
  const message: Message = { role: 'user', content: summary, kind: 'memory' };
  keepMessage(message, losses);
  return { kind: 'compaction', messages: [message], ...time };
}

/** Items of another reader, with the time of their record. */
export function* itemsAt(items: Iterable<TranscriptItem>, time: Time): Generator<TranscriptItem> {
  for (const item of items) yield { ...item, ...time };
}
