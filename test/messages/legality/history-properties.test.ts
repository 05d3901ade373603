/** P3 for the whole check and repair: random faulty histories become legal, random legal ones are never touched. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/canonical-json.js';
import { toJsonValue } from '../../../src/core/to-json-value.js';
import { checkHistory, repairHistory } from '../../../src/messages/legality/history.js';
import {
  isBlankText,
  type Message,
  type MessageRole,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../../../src/messages/message.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import { runParameters } from '../../property/seed.js';
import { faultyHistory, richLegalHistory } from './histories.js';

/** Null for every message but a result that no repair may rewrite. */
function outputOf(message: Message): string | null {
  const result = toolResultOf(message);
  if (!result || result.toolError !== null || typeof result.toolResult === 'string') return null;
  return canonicalJson(toJsonValue(result.toolResult).value);
}

const bytesOf = (messages: readonly Message[]) => canonicalJson(messages.map(messageToJson));

describe('a legal history', () => {
  it('is never touched', () => {
    fc.assert(
      fc.property(richLegalHistory, (messages) => {
        expect(checkHistory(messages)).toStrictEqual([]);
        const outcome = repairHistory(messages);
        expect(outcome.messages).toBe(messages);
        expect(outcome.repairs).toStrictEqual([]);
      }),
      runParameters('legal histories', 10_000),
    );
  });
});

describe('the repair of a faulty history', () => {
  const parameters = runParameters('faulty histories', 500);

  it('is legal afterwards', () => {
    fc.assert(
      fc.property(faultyHistory, (messages) => {
        expect(checkHistory(repairHistory(messages).messages)).toStrictEqual([]);
      }),
      parameters,
    );
  });

  it('repairs exactly when there is a violation', () => {
    fc.assert(
      fc.property(faultyHistory, (messages) => {
        expect(repairHistory(messages).repairs.length > 0).toBe(checkHistory(messages).length > 0);
      }),
      parameters,
    );
  });

  it('is done after one time, gives the same bytes each time, and leaves its input alone', () => {
    fc.assert(
      fc.property(faultyHistory, (messages) => {
        const before = JSON.stringify(messages);
        const first = repairHistory(messages);
        expect(JSON.stringify(messages)).toBe(before);
        expect(bytesOf(repairHistory(structuredClone(messages)).messages)).toBe(bytesOf(first.messages));
        const again = repairHistory(first.messages);
        expect(again.messages).toBe(first.messages);
        expect(again.repairs).toStrictEqual([]);
      }),
      parameters,
    );
  });

  it('loses no text of a user', () => {
    fc.assert(
      fc.property(faultyHistory, (messages) => {
        const kept = repairHistory(messages).messages.map((message) => textOf(message));
        for (const message of messages) {
          const text = textOf(message).toWellFormed();
          if (message.role === 'user' && !isBlankText(text)) expect(kept).toContain(text);
        }
      }),
      parameters,
    );
  });

  it('keeps the output of each real result, or names the result that it drops or makes a note of', () => {
    fc.assert(
      fc.property(faultyHistory, (messages) => {
        const { messages: repaired, repairs } = repairHistory(messages);
        const named = new Set(
          repairs
            .filter(({ code }) => code.startsWith('drop-') || code === 'note-late-result')
            .map((r) => r.messageIndex),
        );
        const kept = new Set(repaired.map(outputOf));
        for (const [index, message] of messages.entries()) {
          if (outputOf(message) !== null && !named.has(index)) expect(kept).toContain(outputOf(message));
        }
      }),
      parameters,
    );
  });

  it('puts each result behind the message with its call', () => {
    fc.assert(
      fc.property(faultyHistory, (messages) => {
        const { messages: repaired } = repairHistory(messages);
        for (const message of repaired) {
          const id = toolResultOf(message)?.toolCallId;
          if (id === undefined) continue;
          const index = repaired.indexOf(message);
          const caller = repaired
            .slice(0, index)
            .findLast((other) => other.role === ('assistant' as MessageRole));
          expect(toolCallsOf(caller!).map((call) => call.id)).toContain(id);
        }
      }),
      parameters,
    );
  });

  it('names messages of the given list', () => {
    fc.assert(
      fc.property(faultyHistory, (messages) => {
        for (const { messageIndex } of repairHistory(messages).repairs) {
          expect(messageIndex).toBeGreaterThanOrEqual(0);
          expect(messageIndex).toBeLessThan(messages.length);
        }
      }),
      parameters,
    );
  });
});
