/**
 * An answer that was cut off inside the arguments of a call: the call was never dispatched, so it is removed, together
 * with the unfinished reasoning that led to it (otherwise H4 and H8 would have to invent an outcome). Text that was
 * shown stays. A call with a result did run, so it stays even if its arguments look cut off.
 */
import { isJsonObject, type JsonValue } from '../../core/json.js';
import { tryParseJsonKeepingDigits } from '../../core/json-digits.js';
import { type Message, type ToolCallSpec, toolCallsOf, toolResultOf } from '../message.js';
import { givenArguments, UNPARSED_ARGUMENTS } from './h8-arguments-are-objects.js';
import type { Repair } from './repairs.js';
import { DraftBuilder, type DraftHistory, type ListRule, originOf } from './rule.js';

export const abortedTurns: ListRule = {
  /** H4 and H8 report it. */
  check: () => [],

  repair(draft, _facts, repairs) {
    const unfinished = new Set(draft.messages.flatMap(unfinishedCalls));
    if (unfinished.size === 0) return draft;
    for (const call of answeredCalls(draft.messages)) unfinished.delete(call);
    return unfinished.size === 0 ? draft : dropUnfinished(draft, unfinished, repairs);
  },
};

function dropUnfinished(
  draft: DraftHistory,
  unfinished: ReadonlySet<ToolCallSpec>,
  repairs: Repair[],
): DraftHistory {
  const builder = new DraftBuilder(draft);
  for (const [index, message] of draft.messages.entries()) {
    const dropped = toolCallsOf(message).filter((call) => unfinished.has(call));
    builder.add(dropped.length === 0 ? message : without(message, dropped), index);
    const messageIndex = originOf(draft, index);
    for (const call of dropped) {
      const reason = `the answer was cut off while it wrote the arguments of ${call.name}`;
      repairs.push({ code: 'drop-unfinished-call', messageIndex, callId: call.id, reason });
    }
    if (dropped.length > 0 && hasPartialReasoning(message)) {
      const reason = 'the answer was cut off before its reasoning was finished';
      repairs.push({ code: 'drop-partial-reasoning', messageIndex, reason });
    }
  }
  return builder.build();
}

/** A result answers the nearest earlier call with its id: ids are reused in other turns. */
function answeredCalls(messages: readonly Message[]): ReadonlySet<ToolCallSpec> {
  const answered = new Set<ToolCallSpec>();
  const waiting = new Set<string>();
  for (const message of messages.toReversed()) {
    const result = toolResultOf(message);
    if (result) waiting.add(result.toolCallId);
    for (const call of toolCallsOf(message)) if (waiting.delete(call.id)) answered.add(call);
  }
  return answered;
}

/** Calls whose arguments were not finished by an answer that was cut off. Some of them may have a result. */
export function unfinishedCalls(message: Message): readonly ToolCallSpec[] {
  if (message.status !== 'aborted' && message.status !== 'failed') return NONE;
  return toolCallsOf(message).filter((call) => isCut(givenArguments(call)));
}

const NONE: readonly ToolCallSpec[] = [];

/** Accepts the arguments as the model wrote them, or as H8 stores them. */
function isCut(given: JsonValue | undefined): boolean {
  if (isJsonObject(given)) return Object.keys(given).length === 1 && isCutText(given[UNPARSED_ARGUMENTS]);
  return isCutText(given);
}

function isCutText(given: JsonValue | undefined): boolean {
  return typeof given === 'string' && given.trim() !== '' && !isJsonObject(tryParseJsonKeepingDigits(given));
}

function without(message: Message, dropped: readonly ToolCallSpec[]): Message {
  const { toolPayload: _, reasoning, reasoningContent: __, ...rest } = message;
  const gone = new Set(dropped);
  const toolCalls = toolCallsOf(message).filter((call) => !gone.has(call));
  const finished = (reasoning ?? []).filter((item) => !isPartial(item));
  return {
    ...rest,
    ...(finished.length > 0 ? { reasoning: finished } : {}),
    ...(toolCalls.length > 0 ? { toolPayload: { toolCalls } } : {}),
  };
}

function hasPartialReasoning(message: Message): boolean {
  return message.reasoningContent !== undefined || (message.reasoning ?? []).some(isPartial);
}

/** A block is finished if its provider signed it. */
function isPartial(item: NonNullable<Message['reasoning']>[number]): boolean {
  return item.signature === undefined && item.encrypted === undefined;
}
