/**
 * H1: every message has a known role. Other names of the four roles are translated. A message with any other role
 * becomes user text, because no text may be lost.
 */
import { MESSAGE_ROLES, type Message, type MessageRole } from '../message.js';
import type { MessageRule } from './rule.js';

const OTHER_NAMES: ReadonlyMap<string, MessageRole> = new Map([
  ['developer', 'system'],
  ['human', 'user'],
  ['model', 'assistant'],
  ['ai', 'assistant'],
  ['bot', 'assistant'],
  ['function', 'tool'],
]);

/** The role for a role name of any format. */
export function roleNamed(name: string): MessageRole {
  return OTHER_NAMES.get(String(name).toLowerCase()) ?? 'user';
}

export const knownRoles: MessageRule = {
  rule: 'H1',
  mend(message, note) {
    if (MESSAGE_ROLES.includes(message.role)) return message;
    const given = String(message.role);
    const role = roleNamed(given);
    note('replace-unknown-role', `the role ${JSON.stringify(given)} is none of ${MESSAGE_ROLES.join(', ')}`);
    const { toolPayload, ...rest } = message;
    const keepsPayload = toolPayload && role === ('toolCalls' in toolPayload ? 'assistant' : 'tool');
    return { ...rest, role, ...(keepsPayload ? { toolPayload } : {}) } satisfies Message;
  },
};
