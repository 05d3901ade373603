/** The pairing rule by itself, in the shape of the whole check and repair: its tests give histories that break other rules too. */
import { pairing } from '../../../src/messages/legality/pairing-rule.js';
import type {
  HistoryFacts,
  Repair,
  RepairedHistory,
  Violation,
} from '../../../src/messages/legality/repairs.js';
import type { Message } from '../../../src/messages/message.js';

export function checkPairing(messages: readonly Message[]): Violation[] {
  return pairing.check(messages).sort((a, b) => a.messageIndex - b.messageIndex);
}

export function repairPairing(
  messages: readonly Message[],
  facts: HistoryFacts = {},
): RepairedHistory<Message> {
  const repairs: Repair[] = [];
  return { messages: pairing.repair({ messages, origins: null }, facts, repairs).messages, repairs };
}
