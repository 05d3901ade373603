/**
 * H1: every message has a known role. Other names of the four are translated; what has a role of its own is kept as text of the
 * user's side, because no text may get lost.
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

/** The role that a name of any format stands for. */
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
