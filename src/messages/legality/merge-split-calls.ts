/**
 * Calls of one response that were written down as several messages are one message again: providers that count calls against
 * results per turn refuse them apart, and the model would learn that it calls one by one.
 *
 * Two neighbours are one response when the second has calls and nothing else, neither id says otherwise, and the results of
 * both come after both.
 */
import { isBlankText, type Message, textOf, toolCallsOf } from '../message.js';
import type { Pairing } from './pairing.js';
import type { Repair } from './repairs.js';
import { DraftBuilder, type DraftHistory, originOf } from './rule.js';

export function mergeSplitCalls(draft: DraftHistory, found: Pairing, repairs: Repair[]): DraftHistory {
  const { messages } = draft;
  const splits = [...found.blocks.keys()].filter((index) => isSecondHalf(messages, index, found));
  if (splits.length === 0) return draft;
  const halves = new Set(splits);
  const merged: { message: Message; index: number }[] = [];
  for (const [index, message] of messages.entries()) {
    if (!halves.has(index)) {
      merged.push({ message, index });
      continue;
    }
    const last = merged[merged.length - 1]!;
    merged[merged.length - 1] = { ...last, message: joined(last.message, message) };
    const reason = 'calls of one response were two messages';
    repairs.push({ code: 'merge-assistant', messageIndex: originOf(draft, index), reason });
  }
  const builder = new DraftBuilder(draft);
  for (const { message, index } of merged) builder.add(message, index);
  return builder.build();
}

function isSecondHalf(messages: readonly Message[], index: number, found: Pairing): boolean {
  const first = messages[index - 1];
  const second = messages[index]!;
  if (first?.role !== 'assistant' || second.role !== 'assistant' || !isBare(second)) return false;
  const slots = found.blocks.get(index - 1) ?? [];
  const answeredAfter = slots.length > 0 && slots.every((slot) => slot.resultIndex > index);
  const own = found.blocks.get(index) ?? [];
  return answeredAfter && own.some((slot) => slot.resultIndex > index) && sameResponse(first, second);
}

function isBare(message: Message): boolean {
  return isBlankText(textOf(message)) && !message.reasoning && message.reasoningContent === undefined;
}

function sameResponse(first: Message, second: Message): boolean {
  const ids = new Set(toolCallsOf(first).map((call) => call.id));
  if (toolCallsOf(second).some((call) => ids.has(call.id))) return false;
  const named = first.messageId !== undefined && second.messageId !== undefined;
  return !named || first.messageId === second.messageId;
}

function joined(first: Message, second: Message): Message {
  const toolCalls = [...toolCallsOf(first), ...toolCallsOf(second)];
  const items = [...(first.providerItems ?? []), ...(second.providerItems ?? [])];
  return { ...first, toolPayload: { toolCalls }, ...(items.length > 0 ? { providerItems: items } : {}) };
}
