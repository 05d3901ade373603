/**
 * H4, H5, H6: a message with calls is followed at once by one result per call, in call order, and no result stands anywhere
 * else or twice.
 *
 * A result belongs to the nearest call of its id before it that is not answered yet; ids are used again in other turns.
 * A result that came late, or after other messages, is put into its call's block. A call without any result gets one that
 * says that the outcome is unknown. A result without a call is dropped and reported: the trace still has it.
 */
import { type Message, toolCallsOf, toolResultOf } from '../message.js';
import type { HistoryFacts, Repair, RepairedHistory, Violation } from './repairs.js';

export const OUTCOME_UNKNOWN_TEXT =
  'Interrupted: the process stopped while this call was running, so its outcome is unknown. ' +
  'It may have taken effect. Check its effects before you repeat it.';

interface Slot {
  readonly callId: string;
  readonly toolName: string;
  /** Index of the message with the call. */
  readonly callIndex: number;
  resultIndex: number;
}

interface Pairing {
  /** Slots by the index of their message, in call order. */
  readonly blocks: Map<number, Slot[]>;
  readonly orphans: number[];
  readonly duplicates: number[];
}

export function checkPairing(messages: readonly Message[]): Violation[] {
  const pairing = pair(messages);
  const violations: Violation[] = [];
  for (const [callIndex, slots] of pairing.blocks) violations.push(...checkBlock(slots, callIndex));
  for (const index of pairing.orphans) {
    violations.push({
      rule: 'H5',
      messageIndex: index,
      reason: 'a result without its call',
      ...idOf(messages[index]!),
    });
  }
  for (const index of pairing.duplicates) {
    violations.push({
      rule: 'H5',
      messageIndex: index,
      reason: 'a second result of one call',
      ...idOf(messages[index]!),
    });
  }
  return violations.sort((a, b) => a.messageIndex - b.messageIndex);
}

function checkBlock(slots: readonly Slot[], callIndex: number): Violation[] {
  const violations: Violation[] = [];
  for (const [position, slot] of slots.entries()) {
    const { callId } = slot;
    if (slot.resultIndex < 0) {
      violations.push({ rule: 'H4', messageIndex: callIndex, callId, reason: 'a call without its result' });
    } else if (slot.resultIndex > callIndex + slots.length) {
      violations.push({
        rule: 'H4',
        messageIndex: slot.resultIndex,
        callId,
        reason: 'a result outside the block of its call',
      });
    } else if (slot.resultIndex !== callIndex + 1 + position) {
      violations.push({
        rule: 'H6',
        messageIndex: slot.resultIndex,
        callId,
        reason: 'results out of call order',
      });
    }
  }
  return violations;
}

/** Copy on write: a list that needs no repair comes back as it is. */
export function repairPairing(
  messages: readonly Message[],
  facts: HistoryFacts = {},
): RepairedHistory<Message> {
  const pairing = pair(messages);
  const repairs = repairsOf(messages, pairing, facts);
  if (repairs.length === 0) return { messages, repairs };
  const repaired: Message[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') continue; // placed with its call, or dropped
    repaired.push(message);
    for (const slot of pairing.blocks.get(index) ?? []) {
      const result = slot.resultIndex >= 0 ? messages[slot.resultIndex]! : interrupted(slot, message, facts);
      if (result) repaired.push(result);
    }
  }
  return { messages: repaired, repairs };
}

function repairsOf(messages: readonly Message[], pairing: Pairing, facts: HistoryFacts): Repair[] {
  const repairs: Repair[] = [];
  for (const [callIndex, slots] of pairing.blocks) {
    for (const slot of slots) {
      const repair = repairOf(slot, slots, callIndex, facts);
      if (repair) repairs.push(repair);
    }
  }
  for (const index of pairing.orphans) repairs.push(dropped('drop-orphan-result', messages, index));
  for (const index of pairing.duplicates) repairs.push(dropped('drop-duplicate-result', messages, index));
  return repairs.sort((a, b) => a.messageIndex - b.messageIndex);
}

function repairOf(slot: Slot, slots: readonly Slot[], callIndex: number, facts: HistoryFacts): Repair | null {
  const { callId, resultIndex } = slot;
  if (resultIndex < 0) {
    if (facts.keepOpen?.has(callId)) return null;
    return {
      code: 'add-interrupted-result',
      messageIndex: callIndex,
      callId,
      reason: 'the call has no result',
    };
  }
  const answered = slots.filter((other) => other.resultIndex >= 0);
  const place = callIndex + 1 + answered.indexOf(slot);
  if (resultIndex === place) return null;
  const inside = resultIndex <= callIndex + answered.length;
  if (inside)
    return {
      code: 'reorder-results',
      messageIndex: resultIndex,
      callId,
      reason: 'results out of call order',
    };
  return {
    code: 'hoist-result',
    messageIndex: resultIndex,
    callId,
    reason: 'the result came after other messages',
  };
}

function dropped(code: Repair['code'], messages: readonly Message[], index: number): Repair {
  const reason =
    code === 'drop-orphan-result' ? 'no call before it has this id' : 'its call is answered already';
  return { code, messageIndex: index, reason, ...idOf(messages[index]!) };
}

function interrupted(slot: Slot, call: Message, facts: HistoryFacts): Message | null {
  if (facts.keepOpen?.has(slot.callId)) return null;
  const toolError = facts.interruptedText?.(slot.callId, slot.callIndex) ?? OUTCOME_UNKNOWN_TEXT;
  return {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: slot.callId, toolName: slot.toolName, toolResult: null, toolError },
    ...(call.turnId === undefined ? {} : { turnId: call.turnId }),
    synthetic: true,
  };
}

/** One pass: each result takes the nearest open slot of its id. A synthetic result gives way to a real one. */
function pair(messages: readonly Message[]): Pairing {
  const pairing: Pairing = { blocks: new Map(), orphans: [], duplicates: [] };
  const latest = new Map<string, Slot[]>();
  for (const [index, message] of messages.entries()) {
    const calls = toolCallsOf(message);
    if (calls.length > 0) openSlots(message, index, pairing, latest);
    const result = toolResultOf(message);
    if (result) answer(messages, index, latest.get(result.toolCallId), pairing);
    else if (message.role === 'tool') pairing.orphans.push(index);
  }
  return pairing;
}

function openSlots(message: Message, index: number, pairing: Pairing, latest: Map<string, Slot[]>): void {
  const slots = toolCallsOf(message).map((call) => ({
    callId: call.id,
    toolName: call.name,
    callIndex: index,
    resultIndex: -1,
  }));
  pairing.blocks.set(index, slots);
  for (const slot of slots) {
    const known = latest.get(slot.callId);
    if (known) known.push(slot);
    else latest.set(slot.callId, [slot]);
  }
}

function answer(
  messages: readonly Message[],
  index: number,
  slots: Slot[] | undefined,
  pairing: Pairing,
): void {
  const open = slots?.findLast((slot) => slot.resultIndex < 0);
  if (open) {
    open.resultIndex = index;
    return;
  }
  const last = slots?.at(-1);
  if (!last) pairing.orphans.push(index);
  else if (messages[last.resultIndex]?.synthetic && !messages[index]?.synthetic) {
    pairing.duplicates.push(last.resultIndex);
    last.resultIndex = index;
  } else pairing.duplicates.push(index);
}

function idOf(message: Message): { callId?: string } {
  const id = toolResultOf(message)?.toolCallId;
  return id === undefined ? {} : { callId: id };
}
