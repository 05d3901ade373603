/**
 * Calls belong to the assistant and results to the tool (H1). If another role carries them, as in some formats, they
 * become a message of their own next to its text. So no result is lost, and no text changes its speaker.
 */
import {
  isBlankMessage,
  isToolCallPayload,
  MESSAGE_ROLES,
  type Message,
  type MessageRole,
} from '../message.js';
import { roleNamed } from './h1-known-roles.js';
import type { Violation } from './repairs.js';
import { DraftBuilder, type ListRule, originOf } from './rule.js';

export const payloadsInTheirRoles: ListRule = {
  check(messages) {
    const violations: Violation[] = [];
    for (let index = 0; index < messages.length; index += 1) {
      const message = messages[index]!;
      // An unknown role is reported by its own rule.
      if (!isForeign(message) || !MESSAGE_ROLES.includes(message.role)) continue;
      violations.push({ rule: 'H1', messageIndex: index, reason: reasonOf(message) });
    }
    return violations;
  },

  repair(draft, _facts, repairs) {
    if (!draft.messages.some(isForeign)) return draft;
    const builder = new DraftBuilder(draft);
    for (const [index, message] of draft.messages.entries()) {
      for (const part of isForeign(message) ? apart(message) : [message]) builder.add(part, index);
      if (!isForeign(message)) continue;
      const messageIndex = originOf(draft, index);
      repairs.push({ code: 'replace-unknown-role', messageIndex, reason: reasonOf(message) });
    }
    return builder.build();
  },
};

/** The message, or the messages that it is split into because its role must not have such a payload. */
export function inTheirRoles(message: Message): Message[] {
  return isForeign(message) ? apart(message) : [message];
}

function ownerOf(payload: NonNullable<Message['toolPayload']>): MessageRole {
  return isToolCallPayload(payload) ? 'assistant' : 'tool';
}

function isForeign({ role, toolPayload }: Message): boolean {
  if (toolPayload === undefined || ('toolCalls' in toolPayload && toolPayload.toolCalls.length === 0))
    return false;
  return role !== ownerOf(toolPayload) && roleNamed(role) !== ownerOf(toolPayload);
}

function reasonOf({ role, toolPayload }: Message): string {
  const what = isToolCallPayload(toolPayload) ? 'calls' : 'a result';
  return `a message of the role ${JSON.stringify(role)} has ${what}`;
}

/** Results come before the text of their message, calls after it. */
function apart(message: Message): Message[] {
  const { toolPayload, ...rest } = message;
  if (!toolPayload) return [message];
  const role = ownerOf(toolPayload);
  // Tool text without a result is not a message, so it stays with the calls.
  if (isBlankMessage(rest) || message.role === 'tool') return [{ ...message, role }];
  const { reasoning, reasoningContent, providerItems, ...said } = rest;
  const { content: _, parts: __, imageUrls, audioUrls, videoUrls, messageId, kind, pinned, ...frame } = said;
  const carried: Message = {
    ...frame,
    role,
    content: null,
    toolPayload,
    ...(reasoning ? { reasoning } : {}),
    ...(reasoningContent === undefined ? {} : { reasoningContent }),
    ...(providerItems ? { providerItems } : {}),
  };
  return role === 'tool' ? [carried, said] : [said, carried];
}
