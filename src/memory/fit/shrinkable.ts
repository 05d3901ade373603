/** Decides which messages may be shortened, by which rung, and in which order. Changes nothing. */

import { type Message, toolCallsOf, toolResultOf } from '../../messages/message.js';
import type { Blobs } from '../../storage/ports.js';
import type { CompactionPolicy } from '../compaction/compaction-policy.js';
import type { Shrinking } from '../compaction/filled-tail.js';
import { currentRecallIndex, currentStepStart, isRequest, keptInFront } from '../compaction/select-cut.js';
import type { TokenCounter } from '../compaction/token-counter.js';
import { clearResult, isClearable, trimMessage } from './shorten-message.js';

/** Minimum that a result keeps in the context, in bytes. */
const RESULT_BYTES_MIN = 600;
/** Bytes per token in dense text (code, JSON, Chinese); used to convert limits to bytes. */
export const BYTES_A_TOKEN = 3;
/** Share of the budget that the results of one step may take together. */
const STEP_RATIO = 0.4;
/** Approximate size of the line between head and tail. */
const LINE_BYTES = 150;
/** A message with fewer tokens is not worth trimming. */
const TRIM_TOKENS_MIN = 200;

/** Approximate size of the line that replaces a cleared result. */
const CLEARED_TOKENS = 60;
/** What an old call with long arguments keeps of them in a compaction: bytes, and the approximate tokens. */
const OLD_CALL = { bytes: 900, tokens: 400 };

/** Maximum bytes of a result's text in the context, if this many results arrive in one step. */
export function resultBytesMax(policy: CompactionPolicy, budgetTokens: number, results: number): number {
  const share = Math.min(policy.resultRatio, STEP_RATIO / Math.max(1, results));
  return Math.max(RESULT_BYTES_MIN, Math.floor(budgetTokens * share * BYTES_A_TOKEN));
}

/** For a compaction: old results are cleared, and long arguments of old calls trimmed. Signed messages stay unchanged. */
export function shrinkingTo(blobs: Blobs | null): Shrinking {
  return {
    tokensAfter: (message) => {
      if (isClearable(message)) return CLEARED_TOKENS;
      return isTrimmableCall(message) ? OLD_CALL.tokens : null;
    },
    shrink: (message) =>
      toolResultOf(message) ? clearResult(message, blobs) : trimMessage(message, OLD_CALL.bytes, blobs),
  };
}

function isTrimmableCall(message: Message): boolean {
  const calls = toolCallsOf(message);
  const isSigned = calls.some(({ signature }) => signature !== undefined) || message.reasoning !== undefined;
  return calls.length > 0 && !isSigned && !message.parts;
}

export interface Clearable {
  /** Positions of results to shorten. */
  readonly places: readonly number[];
  /** Positions of passages recalled for earlier requests, to remove. */
  readonly drops: readonly number[];
  /** Tokens that would be left. */
  readonly left: number;
}

/** What to clear to bring the list down to `target` tokens: passages recalled for earlier requests, and the oldest results. */
export async function clearable(
  messages: readonly Message[],
  target: number,
  counter: TokenCounter,
): Promise<Clearable> {
  const places: number[] = [];
  const current = currentRecallIndex(messages);
  const drops = recallsIn(messages).filter((at) => at !== current);
  const dropped = drops.map((at) => messages[at]!);
  let left = (await counter.countMessages(messages)) - (await counter.countMessages(dropped));
  for (const [at, message] of messages.slice(0, currentStepStart(messages)).entries()) {
    if (left <= target) break;
    if (!isClearable(message)) continue;
    const saved = (await counter.countMessages([message])) - CLEARED_TOKENS;
    if (saved <= 0) continue;
    places.push(at);
    left -= saved;
  }
  return { places, drops, left };
}

/** Positions of everything that was recalled. */
export function recallsIn(messages: readonly Message[]): number[] {
  return [...messages.keys()].filter((at) => messages[at]!.kind === 'recall');
}

export interface TrimBounds {
  /** Approximate target for the whole list. */
  readonly targetBytes: number;
  /** Limit for one result, if this many arrive in one step. */
  readonly resultBytesMax: (results: number) => number;
}

/**
 * Long messages with the bytes that each may keep: older ones first, the largest of them first; then those of the
 * current step.
 * @param open positions of messages with open calls, which stay unchanged
 */
export async function trimmable(
  messages: readonly Message[],
  open: ReadonlySet<number>,
  { targetBytes, resultBytesMax }: TrimBounds,
  counter: TokenCounter,
): Promise<{ readonly at: number; readonly maxBytes: number }[]> {
  const kept = keptInFront(messages);
  const step = currentStepStart(messages);
  const turnId = messages.findLast(isRequest)?.turnId;
  const results = messages.slice(step).filter((message) => toolResultOf(message)).length;
  const share = Math.floor(targetBytes / Math.max(1, 2 * results)) - LINE_BYTES; // a call and its result
  const inStep = Math.max(0, Math.min(resultBytesMax(results), share));
  const older = Math.max(RESULT_BYTES_MIN, Math.floor(targetBytes / 8));
  const found: { at: number; maxBytes: number; tokens: number; isInStep: boolean }[] = [];
  for (const [at, message] of messages.entries()) {
    // An unanswered request of an earlier turn may have been too large: it must not block every later one.
    const isEarlier = isRequest(message) && message.turnId !== turnId;
    const isInStep = at >= step && !isEarlier;
    const isKept = isInStep ? message.role === 'user' : kept[at] && message.kind === undefined && !isEarlier;
    if (message.role === 'system' || message.pinned || isKept || open.has(at)) continue;
    const tokens = await counter.countMessages([message]);
    if (tokens >= TRIM_TOKENS_MIN) found.push({ at, maxBytes: isInStep ? inStep : older, tokens, isInStep });
  }
  return found.sort((a, b) => Number(a.isInStep) - Number(b.isInStep) || b.tokens - a.tokens);
}
