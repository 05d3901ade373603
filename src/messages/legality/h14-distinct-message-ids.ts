/**
 * H14: no message id occurs twice. A repeated message with the same id was replayed and is removed. A different message
 * with a used id keeps its content and loses the id. The same text under another id is not a duplicate: people say
 * `continue` twice.
 */
import { canonicalJson } from '../../core/canonical-json.js';
import type { Message } from '../message.js';
import type { Violation } from './repairs.js';
import { DraftBuilder, type ListRule, originOf } from './rule.js';

export const distinctMessageIds: ListRule = {
  check(messages) {
    return repeated(messages).map(
      ({ index }): Violation => ({
        rule: 'H14',
        messageIndex: index,
        reason: `the message id ${JSON.stringify(messages[index]!.messageId)} is there already`,
      }),
    );
  },

  repair(draft, _facts, repairs) {
    const found = new Map(repeated(draft.messages).map(({ index, first }) => [index, first]));
    if (found.size === 0) return draft;
    const builder = new DraftBuilder(draft);
    const texts = new Map<number, string>();
    for (const [index, message] of draft.messages.entries()) {
      const first = found.get(index);
      if (first === undefined) {
        builder.add(message, index);
        continue;
      }
      if (!texts.has(first)) texts.set(first, replayText(draft.messages[first]!));
      const replayed = texts.get(first) === replayText(message);
      if (!replayed) builder.add(withoutId(message), index);
      repairs.push({
        code: replayed ? 'drop-replayed-duplicate' : 'drop-repeated-message-id',
        messageIndex: originOf(draft, index),
        reason: `the id of message ${originOf(draft, first)} again, with ${replayed ? 'the same' : 'other'} content`,
      });
    }
    return builder.build();
  },
};

function repeated(messages: readonly Message[]): { index: number; first: number }[] {
  const seen = new Map<string, number>();
  const found: { index: number; first: number }[] = [];
  for (let index = 0; index < messages.length; index += 1) {
    const messageId = messages[index]!.messageId?.toWellFormed(); // as H10 will write it
    if (messageId === undefined) continue;
    const first = seen.get(messageId);
    if (first === undefined) seen.set(messageId, index);
    else found.push({ index, first });
  }
  return found;
}

/** The same message under one id, in whichever turn it was recorded. */
export function isReplay(first: Message, again: Message): boolean {
  return replayText(first) === replayText(again);
}

function replayText({ turnId: _, messageId: __, ...said }: Message): string {
  return canonicalJson(said as never);
}

function withoutId(message: Message): Message {
  const { messageId: _, ...rest } = message;
  return rest;
}
