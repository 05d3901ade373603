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
  /** Where its result stands: in its place, in its block but not in call order, or outside of its block. */
  standing: 'missing' | 'in-place' | 'out-of-order' | 'outside';
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
  for (const slots of pairing.blocks.values()) {
    for (const slot of slots) {
      const violation = violationOf(slot);
      if (violation) violations.push(violation);
    }
  }
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

function violationOf(slot: Slot): Violation | null {
  const { callId, callIndex, resultIndex } = slot;
  switch (slot.standing) {
    case 'in-place':
      return null;
    case 'missing':
      return { rule: 'H4', messageIndex: callIndex, callId, reason: 'a call without its result' };
    case 'outside':
      return {
        rule: 'H4',
        messageIndex: resultIndex,
        callId,
        reason: 'a result outside the block of its call',
      };
    case 'out-of-order':
      return { rule: 'H6', messageIndex: resultIndex, callId, reason: 'results out of call order' };
  }
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
  for (const slots of pairing.blocks.values()) {
    for (const slot of slots) {
      const repair = repairOf(slot, facts);
      if (repair) repairs.push(repair);
    }
  }
  for (const index of pairing.orphans) repairs.push(dropped('drop-orphan-result', messages, index));
  for (const index of pairing.duplicates) repairs.push(dropped('drop-duplicate-result', messages, index));
  return repairs.sort((a, b) => a.messageIndex - b.messageIndex);
}

function repairOf(slot: Slot, facts: HistoryFacts): Repair | null {
  const { callId, callIndex, resultIndex } = slot;
  switch (slot.standing) {
    case 'in-place':
      return null;
    case 'missing':
      if (facts.keepOpen?.has(callId)) return null;
      return {
        code: 'add-interrupted-result',
        messageIndex: callIndex,
        callId,
        reason: 'the call has no result',
      };
    case 'outside':
      return {
        code: 'hoist-result',
        messageIndex: resultIndex,
        callId,
        reason: 'the result came after other messages',
      };
    case 'out-of-order':
      return {
        code: 'reorder-results',
        messageIndex: resultIndex,
        callId,
        reason: 'results out of call order',
      };
  }
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

/** The slots of one id: those without a result (the nearest call last), those with a synthetic one, the newest. */
interface SlotsOfId {
  readonly open: Slot[];
  readonly interrupted: Slot[];
  newest: Slot;
}

/** One pass: each result takes the nearest open slot of its id. A synthetic result gives way to a real one. */
function pair(messages: readonly Message[]): Pairing {
  const pairing: Pairing = { blocks: new Map(), orphans: [], duplicates: [] };
  const known = new Map<string, SlotsOfId>();
  for (const [index, message] of messages.entries()) {
    const calls = toolCallsOf(message);
    if (calls.length > 0) openSlots(message, index, pairing, known);
    const result = toolResultOf(message);
    if (result) answer(messages, index, known.get(result.toolCallId), pairing);
    else if (message.role === 'tool') pairing.orphans.push(index);
  }
  for (const [callIndex, slots] of pairing.blocks) noteStandings(messages, callIndex, slots);
  return pairing;
}

function openSlots(message: Message, index: number, pairing: Pairing, known: Map<string, SlotsOfId>): void {
  const slots = toolCallsOf(message).map(
    (call): Slot => ({
      callId: call.id,
      toolName: call.name,
      callIndex: index,
      resultIndex: -1,
      standing: 'missing',
    }),
  );
  pairing.blocks.set(index, slots);
  // Backward: of two calls of one id in one message, the first is answered first.
  for (const slot of slots.toReversed()) {
    const ofId = known.get(slot.callId);
    if (ofId) {
      ofId.open.push(slot);
      ofId.newest = slot;
    } else known.set(slot.callId, { open: [slot], interrupted: [], newest: slot });
  }
}

function answer(
  messages: readonly Message[],
  index: number,
  ofId: SlotsOfId | undefined,
  pairing: Pairing,
): void {
  if (!ofId) {
    pairing.orphans.push(index);
    return;
  }
  const synthetic = messages[index]?.synthetic === true;
  const slot = ofId.open.pop() ?? (synthetic ? undefined : interruptedSlot(messages, index, ofId));
  if (!slot) {
    pairing.duplicates.push(index);
    return;
  }
  if (slot.resultIndex >= 0) pairing.duplicates.push(slot.resultIndex);
  slot.resultIndex = index;
  if (synthetic) ofId.interrupted.push(slot);
}

/** The call that this result answers after all. Of an older call only when nothing says that it is of another turn. */
function interruptedSlot(messages: readonly Message[], index: number, ofId: SlotsOfId): Slot | undefined {
  const slot = ofId.interrupted.at(-1);
  if (!slot) return undefined;
  const own = messages[index]!.turnId;
  const called = messages[slot.callIndex]!.turnId;
  const fits = slot === ofId.newest || own === undefined || called === undefined || own === called;
  return fits ? ofId.interrupted.pop() : undefined;
}

/** A block is the run of results right behind the call; results of other calls in it do not count. */
function noteStandings(messages: readonly Message[], callIndex: number, slots: readonly Slot[]): void {
  const answered = slots.filter((slot) => slot.resultIndex >= 0);
  const own = new Set(answered.map((slot) => slot.resultIndex));
  const block: number[] = [];
  for (let index = callIndex + 1; messages[index]?.role === 'tool'; index += 1) {
    if (own.has(index)) block.push(index);
  }
  const inBlock = new Set(block);
  let position = 0;
  for (const slot of answered) {
    if (!inBlock.has(slot.resultIndex)) slot.standing = 'outside';
    else slot.standing = block[position++] === slot.resultIndex ? 'in-place' : 'out-of-order';
  }
}

function idOf(message: Message): { callId?: string } {
  const id = toolResultOf(message)?.toolCallId;
  return id === undefined ? {} : { callId: id };
}
