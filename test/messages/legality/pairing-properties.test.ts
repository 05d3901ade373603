import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/canonical-json.js';
import { type Message, toolCallsOf, toolResultOf } from '../../../src/messages/message.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import { runParameters } from '../../property/seed.js';
import { anyHistory, calls, legalHistory, result, user } from '../arbitraries.js';
import { checkPairing, repairPairing } from './pairing-only.js';

const parameters = runParameters('pairing', 1_500);
const textOf = (messages: readonly Message[]) => canonicalJson(messages.map(messageToJson));

describe('the repair of any history', () => {
  it('is legal afterwards', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        expect(checkPairing(repairPairing(messages).messages)).toStrictEqual([]);
      }),
      parameters,
    );
  });

  it('repairs exactly when there is a violation', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        expect(repairPairing(messages).repairs.length > 0).toBe(checkPairing(messages).length > 0);
      }),
      parameters,
    );
  });

  it('gives the same bytes for the same history, and is done after one time', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const first = repairPairing(messages);
        expect(textOf(repairPairing(structuredClone(messages)).messages)).toBe(textOf(first.messages));
        const again = repairPairing(first.messages);
        expect(again.messages).toBe(first.messages);
        expect(again.repairs).toStrictEqual([]);
      }),
      parameters,
    );
  });

  it('keeps every text and every call in its order', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const said = (list: readonly Message[]) =>
          list
            .filter(({ role }) => role !== 'tool')
            .flatMap((message) => [message.content, ...toolCallsOf(message)])
            .filter((item) => item !== null);
        const kept = said(repairPairing(messages).messages);
        expect(kept.length).toBe(said(messages).length);
        for (const [index, item] of said(messages).entries()) expect(kept[index]).toBe(item);
      }),
      parameters,
    );
  });

  it('drops no real result while a call of its id before it has none', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const { messages: repaired } = repairPairing(messages);
        const kept = new Set(repaired);
        for (const [index, message] of messages.entries()) {
          const id = toolResultOf(message)?.toolCallId;
          if (id === undefined || message.synthetic || kept.has(message)) continue;
          expect(unansweredBefore(messages.slice(0, index), id, repaired)).toBe(0);
        }
      }),
      parameters,
    );
  });

  it('invents no result but for calls without one', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const own = new Set(messages);
        for (const message of repairPairing(messages).messages) {
          if (!own.has(message)) expect(message.synthetic || toolCallsOf(message).length > 1).toBe(true);
        }
      }),
      parameters,
    );
  });
});

/** How many calls of this id stand in the first part and have only an invented answer in the repaired list. */
function unansweredBefore(before: readonly Message[], id: string, repaired: readonly Message[]): number {
  const real = (message: Message) => toolResultOf(message)?.toolCallId === id && !message.synthetic;
  const holders = new Set(before.filter((message) => toolCallsOf(message).some((call) => call.id === id)));
  let unanswered = 0;
  for (const [index, message] of repaired.entries()) {
    if (!holders.has(message)) continue;
    const block = repaired.slice(index + 1, index + 1 + toolCallsOf(message).length);
    if (!block.some(real)) unanswered += 1;
  }
  return unanswered;
}

describe('a legal history', () => {
  it('is never touched', () => {
    fc.assert(
      fc.property(legalHistory, (messages) => {
        expect(checkPairing(messages)).toStrictEqual([]);
        expect(repairPairing(messages).messages).toBe(messages);
      }),
      parameters,
    );
  });
});

describe('the work of a repair', () => {
  function tangled(turns: number): Message[] {
    const messages: Message[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      messages.push(user(`${turn}`), calls('a', 'b'), result('b'), user('?'));
      if (turn % 3 > 0) messages.push(result('a'));
      if (turn % 5 === 0) messages.push(result('a'), result('lost'));
    }
    return messages;
  }

  it('grows with the length of the history, not with its square', () => {
    const messages = tangled(32_000); // 170,000 messages: some 0.2 s, and a quarter of an hour with the square
    const start = performance.now();
    expect(checkPairing(repairPairing(messages).messages)).toStrictEqual([]);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it('does not grow with how often an id stays open', () => {
    const open = Array.from({ length: 20_000 }, () => calls('a'));
    const start = performance.now();
    repairPairing([...open, ...Array.from({ length: 20_000 }, () => result('a'))]);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});
