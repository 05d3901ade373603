/** The one place where a whole history is checked and repaired. Each rule is a file of its own beside this one. */
import type { Message } from '../message.js';
import { checkPairing, repairPairing } from './pairing.js';
import type { HistoryFacts, Repair, RepairedHistory, Violation } from './repairs.js';

interface HistoryRule {
  check(messages: readonly Message[]): Violation[];
  repair(messages: readonly Message[], facts: HistoryFacts): RepairedHistory<Message>;
}

/** In this order: a rule may rely on what the ones before it made true. */
const RULES: readonly HistoryRule[] = [{ check: checkPairing, repair: repairPairing }];

/** Every violation, in list order per rule; empty for a legal history. Pure, O(n). */
export function checkHistory(messages: readonly Message[]): Violation[] {
  return RULES.flatMap((rule) => rule.check(messages));
}

/** Deterministic, idempotent, copy on write: a legal list comes back as the same object, with no repairs. Runs no tool. */
export function repairHistory(
  messages: readonly Message[],
  facts: HistoryFacts = {},
): RepairedHistory<Message> {
  let current = messages;
  const repairs: Repair[] = [];
  for (const rule of RULES) {
    const result = rule.repair(current, facts);
    current = result.messages;
    repairs.push(...result.repairs);
  }
  return { messages: current, repairs };
}
