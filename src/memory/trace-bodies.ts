/** Traces before they get their id, time and position. */
import { toJsonValue } from '../core/to-json-value.js';
import { isBlankMessage, type ToolCallSpec } from '../messages/message.js';
import type { StorageRedactor } from '../storage/storage-redactor.js';
import {
  type AssistantResponse,
  answerMessageFrom,
  assertCalls,
  type ToolResultInput,
} from './memory-input.js';
import type { Boundary, Trace } from './models/trace.js';

export type TraceBody = Trace extends infer T
  ? T extends Trace
    ? Omit<T, 'id' | 'ts' | 'turnId' | 'seq'>
    : never
  : never;

export type ResultBody = Extract<TraceBody, { readonly type: 'tool_result' }>;

export function callBodies(calls: readonly ToolCallSpec[], messageId: string | undefined): TraceBody[] {
  return calls.map((call) => ({
    type: 'tool_call',
    call,
    sourceEvent: 'ToolCall',
    ...(messageId === undefined ? {} : { messageId }),
  }));
}

/** A response: its text and its calls. @throws MESSAGE_INVALID */
export function responseBodies(
  response: AssistantResponse,
  messageId: string,
  sourceEvent: string,
): TraceBody[] {
  const calls = response.toolCalls ?? [];
  assertCalls(calls);
  const message = answerMessageFrom(response, messageId);
  const said: TraceBody[] = message ? [{ type: 'assistant', message, sourceEvent }] : [];
  const called = callBodies(calls, messageId);
  // Reasoning alone is not a message: it joins its calls, which therefore come first.
  return message && isBlankMessage(message) ? [...called, ...said] : [...said, ...called];
}

/** Without what the store must not hold: the model sees a result as it is stored. */
export function resultBody(
  input: ToolResultInput,
  sourceEvent: string,
  redactor: StorageRedactor | null = null,
): ResultBody {
  const given = input.error ?? null;
  const json = given === null ? toJsonValue(input.result).value : null;
  const toolResult = redactor?.json(json) ?? json;
  const toolError = given === null ? null : (redactor?.text(given) ?? given);
  return {
    type: 'tool_result',
    result: { toolCallId: input.callId, toolName: input.toolName, toolResult, toolError },
    sourceEvent,
    ...(input.parts ? { parts: input.parts } : {}),
    ...(input.synthetic ? { synthetic: true } : {}),
  };
}

export function boundaryBody(boundary: Boundary, sourceEvent: string): TraceBody {
  return { type: 'boundary', boundary, sourceEvent };
}

/** Results by the turn of their call: their own turn if given, else `turnId`. */
export function byTurn(results: readonly ToolResultInput[], turnId: string): Map<string, ToolResultInput[]> {
  const groups = new Map<string, ToolResultInput[]>();
  for (const result of results) {
    const turn = result.turnId ?? turnId;
    groups.set(turn, [...(groups.get(turn) ?? []), result]);
  }
  return groups;
}
