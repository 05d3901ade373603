/**
 * H11: a result is a result or an error, not both, and has the name of its call. If both are given, nothing is
 * discarded: the call counts as failed, and its output follows the error text.
 */
import { type Message, resultText, type ToolCallSpec, toolCallsOf, toolResultOf } from '../message.js';
import type { Violation } from './repairs.js';
import { DraftBuilder, type ListRule, type MessageRule, originOf } from './rule.js';

export const oneOutcome: MessageRule = {
  rule: 'H11',
  mend(message, note) {
    const result = toolResultOf(message);
    if (!result || result.toolError === null || result.toolResult === null) return message;
    note('merge-result-and-error', 'it is a result and an error at once', result.toolCallId);
    const merged = [result.toolError, resultText({ ...result, toolError: null })]
      .filter((text) => text.trim() !== '')
      .join('\n');
    return { ...message, toolPayload: { ...result, toolResult: null, toolError: merged } };
  },
};

export const namedResults: ListRule = {
  check(messages) {
    return wrongNames(messages).map(
      ({ index, call }): Violation => ({
        rule: 'H11',
        messageIndex: index,
        callId: call.id,
        reason: `the result does not carry the name of its call, ${call.name}`,
      }),
    );
  },

  repair(draft, _facts, repairs) {
    const wrong = new Map(wrongNames(draft.messages).map(({ index, call }) => [index, call]));
    if (wrong.size === 0) return draft;
    const builder = new DraftBuilder(draft);
    for (const [index, message] of draft.messages.entries()) {
      const call = wrong.get(index);
      builder.add(call ? named(message, call) : message, index);
      if (!call) continue;
      const reason = `the result did not carry the name of its call, ${call.name}`;
      repairs.push({ code: 'name-result', messageIndex: originOf(draft, index), callId: call.id, reason });
    }
    return builder.build();
  },
};

function named(message: Message, call: ToolCallSpec): Message {
  return { ...message, toolPayload: { ...toolResultOf(message)!, toolName: call.name } };
}

/** Checks only results in the block of their call: elsewhere it is not known which call they answer. */
function wrongNames(messages: readonly Message[]): { index: number; call: ToolCallSpec }[] {
  const wrong: { index: number; call: ToolCallSpec }[] = [];
  let calls: readonly ToolCallSpec[] = [];
  let byId: Map<string, ToolCallSpec> | null = null;
  let start = 0;
  for (let index = 0; index < messages.length; index += 1) {
    const result = toolResultOf(messages[index]!);
    if (!result) {
      calls = toolCallsOf(messages[index]!);
      byId = null;
      start = index + 1;
      continue;
    }
    const inOrder = calls[index - start];
    let call: ToolCallSpec | undefined = inOrder;
    if (inOrder?.id !== result.toolCallId) {
      byId ??= new Map(calls.toReversed().map((candidate) => [candidate.id, candidate]));
      call = byId.get(result.toolCallId);
    }
    if (call && call.name !== result.toolName) wrong.push({ index, call });
  }
  return wrong;
}
