/**
 * H2: at most one system message, at the head.
 *
 * If the current prompt is known, it is the only one: superseded prompts are not replayed. If it is not known, no text
 * is lost: several system messages at the head are joined, and a later one with another text becomes a note from the
 * user's side, in its place.
 */
import { isBlankText, type Message, textOf } from '../message.js';
import type { Repair, Violation } from './repairs.js';
import { DraftBuilder, type DraftHistory, type ListRule, originOf } from './rule.js';

export const systemAtTheHead: ListRule = {
  check(messages) {
    const violations: Violation[] = [];
    for (let index = 1; index < messages.length; index += 1) {
      if (messages[index]!.role !== 'system') continue;
      const reason =
        messages[0]!.role === 'system'
          ? 'a second system message'
          : 'a system message that is not at the head';
      violations.push({ rule: 'H2', messageIndex: index, reason });
    }
    return violations;
  },

  repair(draft, facts, repairs) {
    const { messages } = draft;
    if (!messages.some((message, index) => message.role === 'system' && index > 0)) {
      return facts.systemPrompt === undefined ? draft : setPrompt(draft, facts.systemPrompt, repairs);
    }
    return facts.systemPrompt === undefined
      ? keepAllText(draft, repairs)
      : setPrompt(draft, facts.systemPrompt, repairs);
  },
};

/** Puts the current prompt at the head and removes all others. */
function setPrompt(draft: DraftHistory, prompt: string, repairs: Repair[]): DraftHistory {
  const systems = [...draft.messages.entries()].filter(([, message]) => message.role === 'system');
  const head = draft.messages[0]?.role === 'system' ? draft.messages[0] : undefined;
  const current = head && textOf(head) === prompt;
  if (systems.length === (current ? 1 : 0) && (current || prompt === '')) return draft;
  if (systems.length === 0) return draft; // a list without a prompt is legal; the host adds it
  const builder = new DraftBuilder(draft);
  if (prompt !== '') builder.add(current ? head : { role: 'system', content: prompt }, 0);
  for (const [index, message] of draft.messages.entries()) {
    if (message.role !== 'system') builder.add(message, index);
  }
  const first = systems[current ? 1 : 0] ?? systems[0]!;
  repairs.push({
    code: 'replace-system',
    messageIndex: originOf(draft, first[0]),
    reason: 'the system prompt is another one now',
  });
  return builder.build();
}

function keepAllText(draft: DraftHistory, repairs: Repair[]): DraftHistory {
  const { messages } = draft;
  const leading = messages.findIndex((message) => message.role !== 'system');
  const headCount = leading < 0 ? messages.length : leading;
  const head = mergeHead(draft, headCount, repairs) ?? moveToHead(draft, repairs);
  const builder = new DraftBuilder(draft);
  builder.add(head.message, head.index);
  for (const [index, message] of messages.entries()) {
    if (index < headCount || index === head.index) continue;
    const kept = message.role === 'system' ? demote(draft, index, head.message, repairs) : message;
    if (kept) builder.add(kept, index);
  }
  return builder.build();
}

interface Head {
  readonly message: Message;
  readonly index: number;
}

function mergeHead(draft: DraftHistory, count: number, repairs: Repair[]): Head | null {
  const [first] = draft.messages;
  if (!first || count === 0) return null;
  const texts = new Set([textOf(first)]);
  for (let index = 1; index < count; index += 1) {
    const text = textOf(draft.messages[index]!);
    const repeated = texts.has(text);
    repairs.push({
      code: repeated ? 'drop-repeated-system' : 'merge-system',
      messageIndex: originOf(draft, index),
      reason: repeated ? 'it says what another system message says' : 'a second system message at the head',
    });
    texts.add(text);
  }
  const text = [...texts].filter((one) => !isBlankText(one)).join('\n\n');
  return { message: text === textOf(first) || text === '' ? first : withText(first, text), index: 0 };
}

/** The text replaces the parts that it was made from. */
function withText({ parts, ...message }: Message, content: string): Message {
  const others = (parts ?? []).filter((part) => part.type !== 'text');
  return { ...message, content, ...(others.length > 0 ? { parts: others } : {}) };
}

/** If the only system message is further down, it is moved to the head. */
function moveToHead(draft: DraftHistory, repairs: Repair[]): Head {
  const index = draft.messages.findIndex((message) => message.role === 'system');
  repairs.push({
    code: 'move-system',
    messageIndex: originOf(draft, index),
    reason: 'the system message is not at the head',
  });
  return { message: draft.messages[index]!, index };
}

function demote(draft: DraftHistory, index: number, head: Message, repairs: Repair[]): Message | null {
  const message = draft.messages[index]!;
  const messageIndex = originOf(draft, index);
  if (textOf(message) === textOf(head)) {
    const reason = 'it says what another system message says';
    repairs.push({ code: 'drop-repeated-system', messageIndex, reason });
    return null;
  }
  const reason = 'a system message in the middle became a note';
  repairs.push({ code: 'demote-system', messageIndex, reason });
  return { ...message, role: 'user' };
}
