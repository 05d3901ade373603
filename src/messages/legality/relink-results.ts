/**
 * A result whose id was cleaned up, or cut at a separator, while its call's was not: it is linked to its call again when
 * exactly one open call of the batch before it fits, and no other result does. In any doubt the two are left as they are.
 */
import { toolResultOf } from '../message.js';
import type { Pairing, Slot } from './pairing.js';
import type { Repair } from './repairs.js';
import { DraftBuilder, type DraftHistory, originOf } from './rule.js';

export function relinkResults(draft: DraftHistory, found: Pairing, repairs: Repair[]): DraftHistory {
  const links = linksOf(draft, found);
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

/** The call by the index of the result that answers it. */
function linksOf(draft: DraftHistory, found: Pairing): Map<number, Slot> {
  const batches = [...found.blocks.keys()].sort((a, b) => a - b);
  const bySlot = new Map<Slot, number[]>();
  for (const index of found.orphans) {
    const result = toolResultOf(draft.messages[index]!);
    const batch = lastBelow(batches, index);
    if (!result || batch === undefined) continue;
    const open = found.blocks.get(batch)!.filter((slot) => slot.standing === 'missing');
    const fitting = open.filter((slot) => isSameId(slot.callId, result.toolCallId));
    if (fitting.length === 1) bySlot.set(fitting[0]!, [...(bySlot.get(fitting[0]!) ?? []), index]);
  }
  const links = new Map<number, Slot>();
  for (const [slot, indexes] of bySlot) if (indexes.length === 1) links.set(indexes[0]!, slot);
  return links;
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

function isSameId(call: string, result: string): boolean {
  return (
    cleaned(call) === cleaned(result) || (beforeBar(call) === beforeBar(result) && beforeBar(call) !== '')
  );
}

/** As clients clean ids for providers that take few characters. */
function cleaned(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_');
}

/** Some APIs give a call two ids, joined by a bar. */
function beforeBar(id: string): string {
  const bar = id.indexOf('|');
  return bar < 0 ? id : id.slice(0, bar);
}
