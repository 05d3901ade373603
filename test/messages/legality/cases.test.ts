import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/canonical-json.js';
import { checkHistory, repairHistory } from '../../../src/messages/legality/history.js';
import type { HistoryFacts } from '../../../src/messages/legality/repairs.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import { type CaseFile, expectedMessages, MESSAGE_CASES, matches } from '../case-files.js';

/** Codes that differ from the ones that a case suggests, with the reason. */
const OTHER_CODES: Readonly<Record<string, readonly string[]>> = {
  // The case lets the opening user turn be added here or in the projection; here each addition is a repair of its own.
  '001': ['drop-orphan-result', 'add-opening-user'],
  // One code for each message that goes; the case suggests one for all of them.
  '042': [
    ...Array(4).fill('drop-replayed-duplicate'),
    'drop-repeated-system', // it has no message id: the same text at the head is why it goes
  ],
};

function factsOf(file: CaseFile): HistoryFacts {
  const prompt = file.context['current_system_prompt'];
  return typeof prompt === 'string' ? { systemPrompt: prompt } : {};
}

describe('each case', () => {
  it.each(MESSAGE_CASES)('$id breaks exactly the rules that it says: $title', ({ messages, breaks }) => {
    expect([...new Set(checkHistory(messages).map(({ rule }) => rule))].sort()).toStrictEqual(
      [...breaks].sort(),
    );
  });

  it.each(MESSAGE_CASES)('$id is repaired to the expected list: $title', (file) => {
    const wanted = expectedMessages(file);
    const { messages } = repairHistory(file.messages, factsOf(file));
    expect(checkHistory(messages)).toStrictEqual([]);
    if (wanted)
      expect(matches(messages, wanted), JSON.stringify(messages.map(messageToJson), null, 1)).toBe(true);
  });

  it.each(MESSAGE_CASES)('$id is repaired with the expected codes: $title', (file) => {
    const codes = repairHistory(file.messages, factsOf(file)).repairs.map(({ code }) => code);
    const wanted = OTHER_CODES[file.id] ?? file.expected['repairs'];
    if (Array.isArray(wanted)) expect([...codes].sort()).toStrictEqual([...wanted].sort());
    else expect(codes.length > 0).toBe(file.expected['outcome'] === 'repaired');
  });

  it.each(MESSAGE_CASES)('$id keeps every text that must not get lost: $title', (file) => {
    const text = JSON.stringify(repairHistory(file.messages, factsOf(file)).messages.map(messageToJson));
    for (const kept of (file.expected['keeps'] ?? []) as string[]) expect(text).toContain(kept);
  });

  it.each(MESSAGE_CASES)('$id is repaired once and for all, without changing its input: $title', (file) => {
    const before = canonicalJson(file.messages.map(messageToJson));
    const first = repairHistory(file.messages, factsOf(file));
    const again = repairHistory(first.messages, factsOf(file));
    expect(again.messages).toBe(first.messages);
    expect(again.repairs).toStrictEqual([]);
    expect(canonicalJson(file.messages.map(messageToJson))).toBe(before);
    if (file.breaks.length === 0 && first.repairs.length === 0) expect(first.messages).toBe(file.messages);
  });
});
