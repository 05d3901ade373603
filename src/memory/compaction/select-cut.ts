/**
 * Selects where a compaction cuts: between steps, at a place where no earlier call is open. Pure, one pass over the
 * list.
 *
 * A step is one model response with the results of its calls. The current step, pinned messages and the last request
 * stay wherever the cut is.
 */
import { type Message, toolCallsOf, toolResultOf } from '../../messages/message.js';

/** Index where the current step starts: the newest response, or the last request if no response follows it. */
export function currentStepStart(messages: readonly Message[]): number {
  const request = lastRequestIndex(messages);
  const response = messages.findLastIndex((message) => message.role === 'assistant');
  const start = Math.max(request, response);
  return start < 0 ? messages.length : firstOfRun(messages, start);
}

function lastRequestIndex(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => isRequest(message));
}

/** A message of the user, not of the memory. */
export function isRequest(message: Message): boolean {
  return message.role === 'user' && message.kind === undefined && !message.synthetic;
}

/** A request may consist of several consecutive user messages. */
function firstOfRun(messages: readonly Message[], index: number): number {
  let first = index;
  while (first > 0 && isRequest(messages[first]!) && isRequest(messages[first - 1]!)) first -= 1;
  return first;
}

/** Index of what was recalled for the last request; -1 if nothing was. */
export function currentRecallIndex(messages: readonly Message[]): number {
  const request = lastRequestIndex(messages);
  const before = request < 0 ? -1 : firstOfRun(messages, request) - 1;
  return messages[before]?.kind === 'recall' ? before : -1;
}

/** For each message, whether it stays before any cut. A pinned message keeps its whole block: a call and its results. */
export function keptInFront(messages: readonly Message[]): boolean[] {
  const kept = messages.map(() => false);
  let start = 0;
  for (let index = 1; index <= messages.length; index += 1) {
    if (messages[index]?.role === 'tool') continue;
    const block = messages.slice(start, index);
    if (block.some((message) => message.pinned)) kept.fill(true, start, index);
    start = index;
  }
  const request = lastRequestIndex(messages);
  if (request < 0) return kept;
  const first = firstOfRun(messages, request);
  kept.fill(true, first, request + 1);
  const recall = currentRecallIndex(messages);
  if (recall >= 0) kept[recall] = true;
  return kept;
}

/** For each index, whether the list may be cut before it. */
function legalCuts(messages: readonly Message[]): boolean[] {
  const open = new Map<string, number>();
  let openCount = 0;
  return messages.map((message) => {
    const isLegal = message.role !== 'tool' && openCount === 0;
    for (const { id } of toolCallsOf(message)) {
      open.set(id, (open.get(id) ?? 0) + 1);
      openCount += 1;
    }
    const result = toolResultOf(message);
    const left = result ? (open.get(result.toolCallId) ?? 0) : 0;
    if (result && left > 0) {
      open.set(result.toolCallId, left - 1);
      openCount -= 1;
    }
    return isLegal;
  });
}

/**
 * The first message that stays if as much as fits into `roomTokens` stays, newest first. 0 if everything fits, or
 * nothing may be removed.
 * @param sizes tokens of each message
 */
export function fillCut(messages: readonly Message[], sizes: readonly number[], roomTokens: number): number {
  const legal = legalCuts(messages);
  const latest = currentStepStart(messages);
  const kept = keptInFront(messages);
  let inFront = 0;
  for (const [index, stays] of kept.entries()) if (stays) inFront += sizes[index]!;
  let behind = 0;
  let cut = -1;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    behind += sizes[index]!;
    if (kept[index]) inFront -= sizes[index]!;
    if (index > latest || !legal[index]) continue;
    if (cut >= 0 && behind + inFront > roomTokens) break;
    cut = index;
  }
  return Math.max(0, cut);
}

/** The first message that stays if the last `turns` turns and the last request stay; 0 if nothing may be removed. */
export function turnsCut(messages: readonly Message[], turns: number): number {
  const legal = legalCuts(messages);
  const starts = turnStarts(messages);
  const wanted = starts[Math.max(0, starts.length - turns)] ?? messages.length;
  const latest = Math.min(wanted, Math.max(lastUserIndex(messages), 0));
  return starts.findLast((start) => start <= latest && legal[start]) ?? 0;
}

function lastUserIndex(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => message.role === 'user' && message.kind === undefined);
}

/** Turns start at a user message that is not a memory message and does not follow another user message of its turn. */
function turnStarts(messages: readonly Message[]): number[] {
  const starts: number[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'user' || message.kind !== undefined) continue;
    const before = messages[index - 1];
    const continues =
      before?.role === 'user' && before.kind === undefined && before.turnId === message.turnId;
    if (!continues) starts.push(index);
  }
  return starts;
}
