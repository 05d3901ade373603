/**
 * Parses a host's list into responses with their results: gives calls unique ids and pairs results with
 * calls. It uses the rules of history repair, so that a host's loop and an import of the same messages give
 * the same list.
 */
import { abortedTurns } from '../../messages/legality/aborted-turns.js';
import { distinctCallIds } from '../../messages/legality/h7-distinct-call-ids.js';
import { mendMessage } from '../../messages/legality/history.js';
import { pairing } from '../../messages/legality/pairing-rule.js';
import type { Repair } from '../../messages/legality/repairs.js';
import { DraftBuilder, type DraftHistory } from '../../messages/legality/rule.js';
import {
  type Message,
  type ToolCallSpec,
  type ToolResultPayload,
  toolCallsOf,
  toolResultOf,
} from '../../messages/message.js';

export interface ToldCall {
  readonly spec: ToolCallSpec;
  /** The id that the response gave it. Another call may have the same one. */
  readonly given: string;
  readonly result: ToldResult | null;
}

export interface ToldResult {
  readonly payload: ToolResultPayload;
  readonly parts: Message['parts'];
}

export interface ToldResponse {
  readonly message: Message;
  readonly calls: readonly ToldCall[];
}

export interface Told {
  readonly responses: readonly ToldResponse[];
  /** Results without a call in this list: the call is in an earlier list, or waited. */
  readonly strays: readonly ToldResult[];
}

/** Calls without a result are left to the host. */
const KEEP_OPEN = { keepOpen: { has: () => true } };

/** @param messages assistant and tool messages */
export function toldResponses(messages: readonly Message[]): Told {
  const repairs: Repair[] = [];
  const before = withoutBlank(abortedTurns.repair({ messages, origins: null }, KEEP_OPEN, repairs));
  const renamed = distinctCallIds.repair(before, KEEP_OPEN, repairs);
  const given = givenIds(before, renamed);
  const paired = pairing.repair(renamed, KEEP_OPEN, repairs);
  const strays = repairs
    .filter(({ code }) => code === 'drop-orphan-result')
    .map(({ messageIndex }) => messageIndex);
  return {
    responses: responsesOf(paired.messages, given),
    strays: strays.flatMap((index) => resultIn(messages[index]!) ?? []),
  };
}

/** Every list drops blank messages, so they must not separate the calls of one response. */
function withoutBlank(draft: DraftHistory): DraftHistory {
  const isBlank = (message: Message) => mendMessage(message) === null;
  if (!draft.messages.some(isBlank)) return draft;
  const builder = new DraftBuilder(draft);
  for (const [index, message] of draft.messages.entries()) if (!isBlank(message)) builder.add(message, index);
  return builder.build();
}

function givenIds(before: DraftHistory, renamed: DraftHistory): Map<ToolCallSpec, string> {
  const given = new Map<ToolCallSpec, string>();
  for (const [index, message] of renamed.messages.entries()) {
    const calls = toolCallsOf(before.messages[index]!);
    for (const [at, call] of toolCallsOf(message).entries()) given.set(call, calls[at]!.id);
  }
  return given;
}

function responsesOf(messages: readonly Message[], given: ReadonlyMap<ToolCallSpec, string>): ToldResponse[] {
  const found: { message: Message; results: Map<string, ToldResult> }[] = [];
  for (const message of messages) {
    const result = resultIn(message);
    if (result) found.at(-1)?.results.set(result.payload.toolCallId, result);
    else if (message.role === 'assistant') found.push({ message, results: new Map() });
  }
  return found.map(({ message, results }) => ({
    message,
    calls: toolCallsOf(message).map((spec) => ({
      spec,
      given: given.get(spec) ?? spec.id,
      result: results.get(spec.id) ?? null,
    })),
  }));
}

function resultIn(message: Message): ToldResult | null {
  const payload = toolResultOf(message);
  return payload ? { payload, parts: message.parts } : null;
}
