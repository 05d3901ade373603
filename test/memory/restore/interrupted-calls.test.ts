/** Calls that a crash interrupted: their verdicts, their results, and what stays unknown. */
import { describe, expect, it } from 'vitest';
import { OUTCOME_UNKNOWN_TEXT } from '../../../src/messages/legality/pairing-rule.js';
import { answer, ask, contextText, openAgent, PLACES, type Place, sketchOf, talk } from '../memory-kit.js';

const inTurn = (turnId: string, id = 'a') => ({ callId: id, turnId, toolName: `tool_${id}` });

async function crashed(place: Place, ...ids: string[]) {
  const { memory } = await openAgent(place, { system: 'Be kind.' });
  await talk(memory, 'Hi', 'Hello');
  const turnId = await ask(memory, 'Go', ...ids);
  return { memory, turnId };
}

describe.each(PLACES)('a call over $name that', ({ make }) => {
  it('was not started is closed as without effect', async () => {
    const place = await make();
    const { turnId } = await crashed(place, 'a');
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({
      frontier: { kind: 'interrupted_tools', turnId, callIds: ['a'] },
      interruptedCalls: [
        {
          callId: 'a',
          toolName: 'tool_a',
          turnId,
          messageIndex: 4,
          verdict: 'not_started',
          approvalPending: false,
          leftOpen: false,
        },
      ],
      repairs: [{ code: 'add-interrupted-result', messageIndex: 4, callId: 'a' }],
      unknown: [],
    });
    expect(sketchOf(memory).at(-1)).toMatch(
      /^synthetic tool a = error Interrupted: .*before this call was started.*no effect/,
    );
  });

  it('was started and not finished is closed with an unknown outcome, and it is said', async () => {
    const place = await make();
    const { memory: first, turnId } = await crashed(place, 'a');
    await first.ledger.started(inTurn(turnId));
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({
      interruptedCalls: [{ callId: 'a', verdict: 'outcome_unknown', leftOpen: false }],
      repairs: [{ code: 'add-interrupted-result' }],
      unknown: ['Whether the call a of tool_a took effect.'],
    });
    expect(sketchOf(memory).at(-1)).toBe(`synthetic tool a = error ${OUTCOME_UNKNOWN_TEXT}`);
  });

  it('was finished gets its recorded result, which is no repair', async () => {
    const place = await make();
    const { memory: first, turnId } = await crashed(place, 'a', 'b');
    await first.ledger.started(inTurn(turnId));
    await first.ledger.finished(inTurn(turnId), { result: { paid: 5 }, error: null });
    await first.ledger.started(inTurn(turnId, 'b'));
    await first.ledger.finished(inTurn(turnId, 'b'), { result: null, error: 'declined' });
    const { memory, report } = await openAgent(place);
    expect(report).toMatchObject({
      interruptedCalls: [{ verdict: 'finished' }, { verdict: 'finished' }],
      repairs: [],
      unknown: [],
    });
    expect(sketchOf(memory).slice(-2)).toStrictEqual(['tool a = {"paid":5}', 'tool b = error declined']);
  });

  it('was finished without a kept result is closed, and the model is told to check', async () => {
    const place = await make();
    const { memory: first, turnId } = await crashed(place, 'a');
    await first.ledger.started(inTurn(turnId));
    await first.ledger.finished(inTurn(turnId), null);
    const { memory, report } = await openAgent(place);
    expect(report.interruptedCalls).toMatchObject([{ verdict: 'finished' }]);
    expect(sketchOf(memory).at(-1)).toMatch(/^synthetic tool a = error Interrupted: .*finished.*Check/);
  });

  it('has its result in the traces is not interrupted', async () => {
    const place = await make();
    const { memory: first, turnId } = await crashed(place, 'a', 'b');
    await first.ledger.started(inTurn(turnId));
    await first.ingestToolResults([answer('a')], turnId);
    const { memory, report } = await openAgent(place);
    expect(report.interruptedCalls).toMatchObject([{ callId: 'b', verdict: 'not_started' }]);
    expect(sketchOf(memory).slice(-2)[0]).toBe('tool a = "result of a"');
  });

  it('waited for an approval is closed as not approved, and is reported', async () => {
    const place = await make();
    const { memory: first, turnId } = await crashed(place, 'a');
    await first.ledger.approvalRequested(inTurn(turnId));
    const { memory, report } = await openAgent(place, { restore: { keepPendingApprovals: false } });
    expect(report.interruptedCalls).toMatchObject([
      { verdict: 'not_started', approvalPending: true, leftOpen: false },
    ]);
    expect(sketchOf(memory).at(-1)).toMatch(/waited for approval.*not approved.*no effect/);
  });

  it('waited for an approval stays open when the host asks for it, and can be answered', async () => {
    const place = await make();
    const { memory: first, turnId } = await crashed(place, 'a', 'b');
    await first.ledger.approvalRequested(inTurn(turnId));
    const { memory, report } = await openAgent(place);
    expect(report.interruptedCalls).toMatchObject([
      { callId: 'a', approvalPending: true, leftOpen: true },
      { callId: 'b', approvalPending: false, leftOpen: false },
    ]);
    expect(report.repairs).toMatchObject([{ callId: 'b' }]);
    expect(memory.openCalls()).toMatchObject([{ call: { id: 'a' } }]);
    await memory.ledger.approvalDecided(inTurn(turnId), true);
    await memory.ledger.started(inTurn(turnId));
    await memory.ingestToolResults([answer('a')], turnId);
    expect(sketchOf(memory).slice(-2)[0]).toBe('tool a = "result of a"');
    expect((await openAgent(place)).report).toMatchObject({ interruptedCalls: [], repairs: [] });
  });

  it('was approved and not started is closed as not started', async () => {
    const place = await make();
    const { memory: first, turnId } = await crashed(place, 'a');
    await first.ledger.approvalRequested(inTurn(turnId));
    await first.ledger.approvalDecided(inTurn(turnId), true);
    const { report } = await openAgent(place);
    expect(report.interruptedCalls).toMatchObject([
      { verdict: 'not_started', approvalPending: false, leftOpen: false },
    ]);
  });

  it('was left open in an older turn is closed there', async () => {
    const place = await make();
    const { memory: first } = await crashed(place, 'a');
    await talk(first, 'status?', 'It runs.');
    const { memory, report } = await openAgent(place);
    expect(report.interruptedCalls).toMatchObject([{ callId: 'a', turnId: 'turn_0002', messageIndex: 4 }]);
    expect(sketchOf(memory).slice(4, 7)).toStrictEqual([
      'assistant calls a',
      expect.stringMatching(/^synthetic tool a/),
      'user: status?',
    ]);
  });

  it('has the id of a call of another turn gets its own verdict', async () => {
    const place = await make();
    const { memory: first, turnId } = await crashed(place, 'a');
    await first.ledger.started(inTurn(turnId));
    const second = await ask(first, 'And?', 'a');
    await first.ledger.started(inTurn(second));
    await first.ledger.finished(inTurn(second), { result: 'second', error: null });
    const { memory, report } = await openAgent(place);
    expect(report.interruptedCalls).toMatchObject([
      { turnId, verdict: 'outcome_unknown' },
      { turnId: second, verdict: 'finished' },
    ]);
    expect(sketchOf(memory).at(-1)).toBe('tool a = "second"');
  });
});

describe.each(PLACES)('closing over $name', ({ make }) => {
  it('is durable: the second restore closes nothing and has the same list', async () => {
    const place = await make();
    await crashed(place, 'a', 'b');
    const second = await openAgent(place);
    const third = await openAgent(place);
    expect(third.report).toMatchObject({
      interruptedCalls: [],
      repairs: [],
      frontier: { kind: 'awaiting_assistant' },
    });
    expect(contextText(third.memory)).toBe(contextText(second.memory));
  });

  it('gives the same bytes each time: no clock and no random part in the texts', async () => {
    const texts = new Set<string>();
    for (let time = 0; time < 2; time += 1) {
      const place = await make();
      await crashed(place, 'a');
      const { memory } = await openAgent(place);
      texts.add(sketchOf(memory).join('\n'));
    }
    expect(texts.size).toBe(1);
  });

  it('lets a result that comes late after all take the place of the interrupted one', async () => {
    const place = await make();
    const { turnId } = await crashed(place, 'a');
    const second = await openAgent(place);
    await talk(second.memory, 'And?', 'Wait.');
    await second.memory.ingestToolResults([{ ...answer('a'), turnId }], 'turn_0003');
    expect(sketchOf(second.memory)[5]).toBe('tool a = "result of a"');
    expect(contextText((await openAgent(place)).memory)).toBe(contextText(second.memory));
  });

  it('runs no tool and asks no model: there is none to be given', async () => {
    const place = await make();
    const { memory: first, turnId } = await crashed(place, 'a');
    let ran = 0;
    await first.ledger.started(inTurn(turnId));
    const { memory } = await openAgent(place);
    const again = memory.ledger.run(inTurn(turnId), {}, async () => {
      ran += 1;
    });
    await expect(again).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(ran).toBe(0);
  });
});
