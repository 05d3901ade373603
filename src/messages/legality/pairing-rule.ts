/**
 * H4, H5, H6: a message with calls is directly followed by one result per call, in call order, and no result occurs
 * elsewhere or twice. One file for the three rules, because one placement establishes all of them.
 *
 * A result that came late, or after other messages, is moved to its call. A call without a result gets one that says
 * that the outcome is unknown. A result without a call is dropped and reported (the trace still has it). Exception: its
 * call was compacted away while the job kept running; then its text is kept as a note.
 */
import { type Message, resultText, toolCallsOf, toolResultOf } from '../message.js';
import { mergeSplitCalls } from './merge-split-calls.js';
import { type Pairing, pair, type Slot } from './pairing.js';
import { relinkResults } from './relink-results.js';
import type { HistoryFacts, Repair, RepairCode, Violation } from './repairs.js';
import { DraftBuilder, type DraftHistory, type ListRule, originOf } from './rule.js';
import { SinceSummary } from './since-summary.js';

export const OUTCOME_UNKNOWN_TEXT =
  'Interrupted: the process stopped while this call was running, so its outcome is unknown. ' +
  'It may have taken effect. Check its effects before you repeat it.';

export const pairing: ListRule = {
  check(messages) {
    if (isPlain(messages)) return [];
    const found = pair(messages);
    const violations = [...found.blocks.values()].flat().flatMap(violationsOf);
    for (const index of found.orphans)
      violations.push(misplaced(messages, index, 'a result without its call'));
    for (const index of found.duplicates) {
      violations.push(misplaced(messages, index, 'a second result of one call'));
    }
    return violations;
  },

  repair(draft, facts, repairs) {
    if (isPlain(draft.messages)) return draft;
    const found = pair(draft.messages);
    if (isLegal(found, facts)) return draft;
    const merged = mergeSplitCalls(draft, found, repairs);
    const linked = relinkResults(merged, merged === draft ? found : pair(merged.messages), repairs);
    return place(linked, linked === draft ? found : pair(linked.messages), facts, repairs);
  },
};

/** Each call is directly followed by its result, in order. True for nearly every list, and checked without pairing anything. */
function isPlain(messages: readonly Message[]): boolean {
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index]!;
    if (message.role === 'tool') return false;
    for (const { id } of toolCallsOf(message)) {
      index += 1;
      const answer = messages[index];
      if (!answer || toolResultOf(answer)?.toolCallId !== id) return false;
    }
  }
  return true;
}

function violationsOf(slot: Slot): Violation[] {
  const { callId, callIndex, resultIndex } = slot;
  switch (slot.standing) {
    case 'in-place':
      return [];
    case 'missing':
      return [{ rule: 'H4', messageIndex: callIndex, callId, reason: 'a call without its result' }];
    case 'outside':
      return [
        { rule: 'H4', messageIndex: callIndex, callId, reason: 'its result does not follow at once' },
        { rule: 'H5', messageIndex: resultIndex, callId, reason: 'a result outside the block of its call' },
      ];
    case 'out-of-order':
      return [{ rule: 'H6', messageIndex: resultIndex, callId, reason: 'results out of call order' }];
  }
}

function misplaced(messages: readonly Message[], index: number, reason: string): Violation {
  const callId = toolResultOf(messages[index]!)?.toolCallId;
  return { rule: 'H5', messageIndex: index, reason, ...(callId === undefined ? {} : { callId }) };
}

function isLegal(found: Pairing, facts: HistoryFacts): boolean {
  if (found.orphans.length > 0 || found.duplicates.length > 0) return false;
  for (const slots of found.blocks.values()) {
    for (const slot of slots) if (repairOf(slot, facts)) return false;
  }
  return true;
}

/**
 * Joins batches (consecutive calls, and the results directly after them) before a call is treated as having no result.
 * Returns the same draft if nothing was split or had another spelling of its id.
 * @param isKnown whether a call before the draft had the id
 */
export function joinBatches(
  draft: DraftHistory,
  repairs: Repair[],
  isKnown?: (callId: string) => boolean,
): DraftHistory {
  const merged = mergeSplitCalls(draft, pair(draft.messages), repairs);
  return relinkResults(merged, pair(merged.messages), repairs, isKnown);
}

/** The caller already knows that the list changes, so it is copied. */
function place(draft: DraftHistory, found: Pairing, facts: HistoryFacts, repairs: Repair[]): DraftHistory {
  const late = lateResults(draft.messages, found.orphans);
  note(draft, found, late, facts, repairs);
  const builder = new DraftBuilder(draft);
  for (const [index, message] of draft.messages.entries()) {
    if (late.has(index)) builder.add(asNote(message), index);
    if (message.role === 'tool') continue; // placed with its call, or dropped
    builder.add(message, index);
    for (const slot of found.blocks.get(index) ?? []) {
      if (slot.resultIndex >= 0) builder.add(draft.messages[slot.resultIndex]!, slot.resultIndex);
      else if (!facts.keepOpen?.has(slot.callId)) builder.add(interrupted(slot, draft, facts), index);
    }
  }
  return builder.build();
}

function note(
  draft: DraftHistory,
  found: Pairing,
  late: ReadonlySet<number>,
  facts: HistoryFacts,
  repairs: Repair[],
): void {
  const made: Repair[] = [];
  const add = (code: RepairCode, index: number, reason: string, callId: string | undefined): void => {
    const messageIndex = originOf(draft, index);
    made.push({ code, messageIndex, reason, ...(callId === undefined ? {} : { callId }) });
  };
  for (const slot of [...found.blocks.values()].flat()) {
    const repair = repairOf(slot, facts);
    if (repair) add(repair.code, repair.index, repair.reason, slot.callId);
  }
  const idOf = (index: number) => toolResultOf(draft.messages[index]!)?.toolCallId;
  for (const index of found.orphans) {
    if (late.has(index)) add('note-late-result', index, 'its call went with a compaction', idOf(index));
    else add('drop-orphan-result', index, 'no call before it has this id', idOf(index));
  }
  for (const index of found.duplicates)
    add('drop-duplicate-result', index, 'its call is answered already', idOf(index));
  made.sort((a, b) => a.messageIndex - b.messageIndex);
  for (const repair of made) repairs.push(repair); // one by one: there may be too many for the arguments of one push
}

function repairOf(
  slot: Slot,
  facts: HistoryFacts,
): { code: RepairCode; index: number; reason: string } | null {
  const { callId, callIndex, resultIndex } = slot;
  switch (slot.standing) {
    case 'in-place':
      return null;
    case 'missing':
      if (facts.keepOpen?.has(callId)) return null;
      return { code: 'add-interrupted-result', index: callIndex, reason: 'the call has no result' };
    case 'outside':
      return { code: 'hoist-result', index: resultIndex, reason: 'the result came after other messages' };
    case 'out-of-order':
      return { code: 'reorder-results', index: resultIndex, reason: 'results out of call order' };
  }
}

function interrupted(slot: Slot, draft: DraftHistory, facts: HistoryFacts): Message {
  const { turnId } = draft.messages[slot.callIndex]!;
  const index = originOf(draft, slot.callIndex);
  const toolError = facts.interruptedText?.(slot.callId, index) ?? OUTCOME_UNKNOWN_TEXT;
  return {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: slot.callId, toolName: slot.toolName, toolResult: null, toolError },
    ...(turnId === undefined ? {} : { turnId }),
    synthetic: true,
  };
}

function lateResults(messages: readonly Message[], orphans: readonly number[]): ReadonlySet<number> {
  const late = new Set<number>();
  if (orphans.length === 0) return late;
  const left = new Set(orphans);
  const since = new SinceSummary();
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool') since.add(message);
    else if (left.has(index) && since.isLate(message)) late.add(index);
  }
  return late;
}

export function asNote(message: Message): Message {
  const result = toolResultOf(message)!;
  return {
    role: 'user',
    content: `[Late result of an earlier call of ${result.toolName || 'a tool'}]\n${resultText(result)}`,
    ...(message.turnId === undefined ? {} : { turnId: message.turnId }),
    synthetic: true,
  };
}
