/** H3: the first message after the system prompt is the user's. If it was cut away, a fixed text replaces it. */
import type { Message } from '../message.js';
import { DraftBuilder, type ListRule, originOf } from './rule.js';

/** Without time or id, so that the same list gives the same bytes on every machine. */
export const OPENING_USER: Message = {
  role: 'user',
  content: 'The earlier part of this conversation is not shown. Go on from here.',
  synthetic: true,
};

/** True for the message that is put before a list that does not open with the user. */
export function isOpening(message: Message): boolean {
  return message.role === 'user' && message.synthetic === true && message.content === OPENING_USER.content;
}

export const opensWithUser: ListRule = {
  check(messages) {
    const index = wrongOpening(messages);
    if (index < 0) return [];
    const reason = `the conversation opens with a message of the role ${messages[index]!.role}`;
    return [{ rule: 'H3', messageIndex: index, reason }];
  },

  repair(draft, _facts, repairs) {
    const at = wrongOpening(draft.messages);
    if (at < 0) return draft;
    const builder = new DraftBuilder(draft);
    for (const [index, message] of draft.messages.entries()) {
      if (index === at) builder.add(OPENING_USER, index);
      builder.add(message, index);
    }
    repairs.push({
      code: 'add-opening-user',
      messageIndex: originOf(draft, at),
      reason: 'the conversation did not open with the user',
    });
    return builder.build();
  },
};

/** Index of the first message after the system prompt if it is not the user's; -1 if it is, or if there is none. */
function wrongOpening(messages: readonly Message[]): number {
  const first = messages.findIndex((message) => message.role !== 'system');
  return first >= 0 && messages[first]!.role !== 'user' ? first : -1;
}
