/**
 * H10: no lone surrogate in any value or key. Strict parsers reject the whole request for half an emoji. Each half
 * becomes U+FFFD; everything else stays unchanged.
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

/** Deeper levels are walked without recursion: a result may be nested deeper than the stack allows. */
const RECURSION_MAX = 100;

/** The message's own field names are known to be well-formed. */
function isWellFormed(message: Message): boolean {
  for (const key in message) if (!isFine(message[key as keyof Message], 0)) return false;
  return true;
}

function areWellFormed(value: object, depth: number): boolean {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (!isFine(value[index], depth)) return false;
    return true;
  }
  for (const key in value) {
    if (!key.isWellFormed() || !isFine((value as { [key: string]: unknown })[key], depth)) return false;
  }
  return true;
}

function isFine(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return depth < RECURSION_MAX ? areWellFormed(value, depth + 1) : areWellFormedBelow(value);
}

function areWellFormedBelow(top: object): boolean {
  const waiting: object[] = [top];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const key of Object.keys(next)) {
      const value = (next as { [key: string]: unknown })[key];
      if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) return false;
      if (typeof value === 'object' && value !== null) waiting.push(value);
    }
  }
  return true;
}
