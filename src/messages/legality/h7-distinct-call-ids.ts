/**
 * H7: each call of a message has a distinct id. The same id in another message is allowed: calls and results are paired
 * batch by batch. Results follow in the order of the calls: the first result of a repeated id answers the first call.
 */
import { type Message, type ToolCallSpec, toolCallsOf, toolResultOf } from '../message.js';
import type { Repair, Violation } from './repairs.js';
import { DraftBuilder, type DraftHistory, type ListRule, originOf } from './rule.js';

export const distinctCallIds: ListRule = {
  check(messages) {
    const violations: Violation[] = [];
    for (const [messageIndex, message] of messages.entries()) {
      for (const { id, reason } of faultsOf(toolCallsOf(message))) {
        violations.push({ rule: 'H7', messageIndex, callId: id, reason });
      }
    }
    return violations;
  },

  repair(draft, _facts, repairs) {
    if (!draft.messages.some((message) => faultsOf(toolCallsOf(message)).length > 0)) return draft;
    return rename(draft, repairs);
  },
};

export function faultsOf(calls: readonly ToolCallSpec[]): { id: string; reason: string }[] {
  if (calls.length === 0 || (calls.length === 1 && calls[0]!.id !== '')) return NONE;
  const seen = new Set<string>();
  const faults: { id: string; reason: string }[] = [];
  for (const { id } of calls) {
    if (id === '') faults.push({ id, reason: 'a call without an id' });
    else if (seen.has(id)) faults.push({ id, reason: 'two calls of one message have the same id' });
    seen.add(id);
  }
  return faults;
}

const NONE: { id: string; reason: string }[] = [];

function rename(draft: DraftHistory, repairs: Repair[]): DraftHistory {
  const builder = new DraftBuilder(draft);
  const renaming = new CallIdRenaming();
  for (const [index, message] of draft.messages.entries()) {
    for (const { id, reason } of faultsOf(toolCallsOf(message)))
      repairs.push({ code: 'rename-call-id', messageIndex: originOf(draft, index), callId: id, reason });
    builder.add(renaming.next(message), index);
  }
  return builder.build();
}

/** Renames calls in the messages of one conversation, in order: for a whole list, or for code that reads message by message. */
export class CallIdRenaming {
  /** New ids by old id, for results still to come. The last one belongs to the first result, so the nearest calls come first. */
  readonly #waiting = new Map<string, string[]>();

  next(message: Message): Message {
    const calls = toolCallsOf(message);
    if (faultsOf(calls).length > 0) {
      const renamed = renamedCalls(calls);
      this.#await(calls, renamed);
      return { ...message, toolPayload: { toolCalls: renamed } };
    }
    for (const { id } of calls) this.#waiting.get(id)?.push(id);
    return withNewId(message, this.#waiting);
  }

  #await(before: readonly ToolCallSpec[], after: readonly ToolCallSpec[]): void {
    for (let index = before.length - 1; index >= 0; index -= 1) {
      const { id } = before[index]!;
      const ids = this.#waiting.get(id);
      if (ids) ids.push(after[index]!.id);
      else this.#waiting.set(id, [after[index]!.id]);
    }
  }
}

function renamedCalls(calls: readonly ToolCallSpec[]): ToolCallSpec[] {
  const taken = new Set(calls.map((call) => call.id));
  const used = new Set<string>();
  const numbers = new Map<string, number>();
  return calls.map((call) => {
    if (call.id !== '' && !used.has(call.id)) {
      used.add(call.id);
      return call;
    }
    const base = call.id === '' ? 'call' : call.id;
    let number = numbers.get(base) ?? 2;
    while (taken.has(`${base}_${number}`)) number += 1;
    numbers.set(base, number + 1);
    const id = `${base}_${number}`;
    taken.add(id);
    return { ...call, id };
  });
}

function withNewId(message: Message, waiting: Map<string, string[]>): Message {
  const result = toolResultOf(message);
  const next = result ? waiting.get(result.toolCallId)?.pop() : undefined;
  if (!result || next === undefined || next === result.toolCallId) return message;
  return { ...message, toolPayload: { ...result, toolCallId: next } };
}
