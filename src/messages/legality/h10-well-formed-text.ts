/**
 * H10: no lone surrogate in any value or key. Strict parsers refuse the whole request for one half of an emoji; each half becomes
 * U+FFFD, everything else stays as it is.
 */
import { toJsonValue } from '../../core/to-json-value.js';
import type { Message } from '../message.js';
import type { MessageRule } from './rule.js';

export const wellFormedText: MessageRule = {
  rule: 'H10',
  mend(message, note) {
    if (isWellFormed(message)) return message;
    note('fix-unicode', 'a text holds half of a surrogate pair');
    return toJsonValue(message).value as unknown as Message;
  },
};

/** Without recursion: a result may be nested deeper than the stack. */
function isWellFormed(message: Message): boolean {
  const waiting: unknown[] = [];
  for (const key in message) {
    const value: unknown = message[key as keyof Message];
    if (typeof value === 'string') {
      if (!value.isWellFormed()) return false;
    } else if (typeof value === 'object' && value !== null) waiting.push(value);
  }
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (Array.isArray(next)) {
      for (const value of next) if (!look(value, waiting)) return false;
      continue;
    }
    for (const key in next as object) {
      if (!key.isWellFormed() || !look((next as { [key: string]: unknown })[key], waiting)) return false;
    }
  }
  return true;
}

function look(value: unknown, waiting: unknown[]): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'object' && value !== null) waiting.push(value);
  return true;
}
