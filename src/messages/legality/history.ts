/** Checks and repairs a whole history. Each rule has its own file in this folder. */
import type { Message } from '../message.js';
import { abortedTurns } from './aborted-turns.js';
import { knownRoles } from './h1-known-roles.js';
import { systemAtTheHead } from './h2-system-at-the-head.js';
import { opensWithUser } from './h3-opens-with-user.js';
import { distinctCallIds } from './h7-distinct-call-ids.js';
import { argumentsAreObjects } from './h8-arguments-are-objects.js';
import { nothingBlank } from './h9-nothing-blank.js';
import { wellFormedText } from './h10-well-formed-text.js';
import { namedResults, oneOutcome } from './h11-one-outcome.js';
import { noEmptyCalls } from './h12-no-empty-calls.js';
import { signedText } from './h13-signed-text.js';
import { distinctMessageIds } from './h14-distinct-message-ids.js';
import { pairing } from './pairing-rule.js';
import { payloadsInTheirRoles } from './payloads-in-their-roles.js';
import type { HistoryFacts, Repair, RepairedHistory, Violation } from './repairs.js';
import {
  DraftBuilder,
  type DraftHistory,
  type ListRule,
  type MessageRule,
  type Note,
  originOf,
} from './rule.js';

/** The order matters: a rule may rely on what earlier rules ensured. */
const MESSAGE_RULES: readonly MessageRule[] = [
  knownRoles,
  noEmptyCalls,
  argumentsAreObjects,
  signedText,
  oneOutcome,
  nothingBlank,
  wellFormedText,
];

/**
 * Answers that were cut off are handled before other rules run. Calls and results are paired before the list gets its
 * opening.
 */
const LIST_RULES_BEFORE: readonly ListRule[] = [distinctMessageIds, payloadsInTheirRoles, abortedTurns];
const LIST_RULES_AFTER: readonly ListRule[] = [
  systemAtTheHead,
  distinctCallIds,
  pairing,
  namedResults,
  opensWithUser,
];

/** Every violation, in list order; empty for a legal history. Pure, O(n). Sends nothing and runs no tool. */
export function checkHistory(messages: readonly Message[]): Violation[] {
  const violations: Violation[] = [];
  let rule = MESSAGE_RULES[0]!;
  let messageIndex = 0;
  const note: Note = (_code, reason, callId) => {
    violations.push({ rule: rule.rule, messageIndex, reason, ...(callId === undefined ? {} : { callId }) });
  };
  for (; messageIndex < messages.length; messageIndex += 1) {
    for (rule of MESSAGE_RULES) rule.mend(messages[messageIndex]!, note);
  }
  for (const { check } of [...LIST_RULES_BEFORE, ...LIST_RULES_AFTER]) {
    for (const violation of check(messages)) violations.push(violation); // one by one: there may be too many for the arguments of one push
  }
  return violations.sort((a, b) => a.messageIndex - b.messageIndex);
}

/**
 * Makes a history legal (rules H1 to H14) and lists what it changed. Deterministic, idempotent, copy-on-write: a legal
 * list is returned as the same object, with no repairs. Runs no tool.
 */
export function repairHistory(
  messages: readonly Message[],
  facts: HistoryFacts = {},
): RepairedHistory<Message> {
  const repairs: Repair[] = [];
  let draft: DraftHistory = { messages, origins: null };
  for (const rule of LIST_RULES_BEFORE) draft = rule.repair(draft, facts, repairs);
  draft = mendMessages(draft, repairs);
  for (const rule of LIST_RULES_AFTER) draft = rule.repair(draft, facts, repairs);
  return { messages: draft.messages, repairs: repairs.sort((a, b) => a.messageIndex - b.messageIndex) };
}

/** Repairs one message on its own; null if nothing of it is left. */
export function mendMessage(message: Message, note: Note = () => {}): Message | null {
  let mended: Message | null = message;
  for (const rule of MESSAGE_RULES) {
    mended = rule.mend(mended, note);
    if (!mended) return null;
  }
  return mended;
}

function mendMessages(draft: DraftHistory, repairs: Repair[]): DraftHistory {
  let builder: DraftBuilder | null = null;
  let index = 0;
  const note: Note = (code, reason, callId) => {
    const messageIndex = originOf(draft, index);
    repairs.push({ code, messageIndex, reason, ...(callId === undefined ? {} : { callId }) });
  };
  for (; index < draft.messages.length; index += 1) {
    const message = draft.messages[index]!;
    const mended = mendMessage(message, note);
    if (mended !== message && !builder) {
      builder = new DraftBuilder(draft);
      for (let before = 0; before < index; before += 1) builder.add(draft.messages[before]!, before);
    }
    if (mended) builder?.add(mended, index);
  }
  return builder?.build() ?? draft;
}
