/**
 * Links a result to its call again if the result's id was cleaned up, or cut at a separator, and the call's id was not.
 * Exactly one unanswered call of the batch directly before it must match, and no other result may match that call. In
 * any doubt both stay unchanged. Later messages are ignored, so that an import can decide the same without having read
 * the rest.
 */
import { type Message, toolResultOf } from '../message.js';
import type { Pairing, Slot } from './pairing.js';
import type { Repair } from './repairs.js';
import { DraftBuilder, type DraftHistory, originOf } from './rule.js';

/** @param isKnown whether a call outside the draft had the id: then the result belongs to that call */
export function relinkResults(
  draft: DraftHistory,
  found: Pairing,
  repairs: Repair[],
  isKnown: (callId: string) => boolean = () => false,
): DraftHistory {
  const links = linksOf(draft, found, isKnown);
  if (links.size === 0) return draft;
  const builder = new DraftBuilder(draft);
  for (const [index, message] of draft.messages.entries()) {
    const slot = links.get(index);
    const result = toolResultOf(message);
    if (!slot || !result) {
      builder.add(message, index);
      continue;
    }
    builder.add({ ...message, toolPayload: { ...result, toolCallId: slot.callId } }, index);
    const reason = `the result's id ${JSON.stringify(result.toolCallId)} is the call's id in another spelling`;
    repairs.push({
      code: 'relink-result',
      messageIndex: originOf(draft, index),
      callId: slot.callId,
      reason,
    });
  }
  return builder.build();
}

/** The matching call, by the index of the result that answers it. */
function linksOf(
  draft: DraftHistory,
  found: Pairing,
  isKnown: (callId: string) => boolean,
): Map<number, Slot> {
  const batches = [...found.blocks.keys()].sort((a, b) => a - b);
  const bySlot = new Map<Slot, number[]>();
  const spellings = new Map<number, Spellings>();
  const ends = new Map<number, number>();
  for (const index of found.orphans) {
    const result = toolResultOf(draft.messages[index]!);
    const batch = lastBelow(batches, index);
    if (!result || batch === undefined || isKnown(result.toolCallId)) continue;
    if (!ends.has(batch)) ends.set(batch, endOfResults(draft.messages, batch));
    const end = ends.get(batch)!;
    if (index >= end) continue;
    if (!spellings.has(batch)) spellings.set(batch, spellingsOf(found.blocks.get(batch)!, end));
    const slot = onlyFitting(spellings.get(batch)!, result.toolCallId);
    if (!slot) continue;
    const indexes = bySlot.get(slot);
    if (indexes) indexes.push(index);
    else bySlot.set(slot, [index]);
  }
  const links = new Map<number, Slot>();
  for (const [slot, indexes] of bySlot) if (indexes.length === 1) links.set(indexes[0]!, slot);
  return links;
}

function endOfResults(messages: readonly Message[], batch: number): number {
  let end = batch + 1;
  while (messages[end]?.role === 'tool') end += 1;
  return end;
}

function lastBelow(sorted: readonly number[], index: number): number | undefined {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < index) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
}

/** The open calls of a batch, by each spelling of their ids. */
type Spellings = Map<string, Set<Slot>>;

function spellingsOf(slots: readonly Slot[], end: number): Spellings {
  const found: Spellings = new Map();
  for (const slot of slots) {
    if (slot.resultIndex >= 0 && slot.resultIndex < end) continue;
    for (const spelling of spelled(slot.callId)) {
      const same = found.get(spelling);
      if (!same) found.set(spelling, new Set([slot]));
      else if (same.size < 2) same.add(slot); // two are as good as many: the match is ambiguous
    }
  }
  return found;
}

function onlyFitting(spellings: Spellings, resultId: string): Slot | null {
  const fitting = new Set(spelled(resultId).flatMap((spelling) => [...(spellings.get(spelling) ?? [])]));
  const [slot] = fitting;
  return fitting.size === 1 ? slot! : null;
}

function spelled(id: string): string[] {
  const first = beforeBar(id);
  return [`clean ${cleaned(id)}`, ...(first === '' ? [] : [`first ${first}`])];
}

/** As clients clean ids for providers that accept few characters. */
function cleaned(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_');
}

/** Some APIs give a call two ids, joined by a bar. */
function beforeBar(id: string): string {
  const bar = id.indexOf('|');
  return bar < 0 ? id : id.slice(0, bar);
}
