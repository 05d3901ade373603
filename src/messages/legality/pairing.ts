/**
 * Decides which result answers which call.
 *
 * A result belongs to the nearest earlier unanswered call with its id. Ids are reused in other turns, so one map over
 * the whole list would pair the wrong ones.
 */
import { type Message, toolCallsOf, toolResultOf } from '../message.js';

export interface Slot {
  readonly callId: string;
  readonly toolName: string;
  /** Index of the message with the call. */
  readonly callIndex: number;
  resultIndex: number;
  /** Position of its result: in its place, in its block but not in call order, or outside its block. */
  standing: 'missing' | 'in-place' | 'out-of-order' | 'outside';
}

export interface Pairing {
  /** Slots in call order, by the index of their message. */
  readonly blocks: Map<number, Slot[]>;
  readonly orphans: number[];
  readonly duplicates: number[];
}

/** The slots of one id: those without a result (nearest call last), those with a synthetic one, and the newest. */
interface SlotsOfId {
  readonly open: Slot[];
  readonly interrupted: Slot[];
  newest: Slot;
}

/** One pass: each result takes the nearest open slot of its id. A real result replaces a synthetic one. */
export function pair(messages: readonly Message[]): Pairing {
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
  // Backward: if one message has two calls with one id, the first one is answered first.
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

/**
 * The call with a synthetic result that this result really answers. An older call only if nothing shows that it is from
 * another turn.
 */
function interruptedSlot(messages: readonly Message[], index: number, ofId: SlotsOfId): Slot | undefined {
  const slot = ofId.interrupted.at(-1);
  if (!slot) return undefined;
  const own = messages[index]!.turnId;
  const called = messages[slot.callIndex]!.turnId;
  const fits = slot === ofId.newest || own === undefined || called === undefined || own === called;
  return fits ? ofId.interrupted.pop() : undefined;
}

/** A block is the run of results directly after the call. Results of other calls in it are ignored. */
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
