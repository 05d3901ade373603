import { describe, expect, it } from 'vitest';
import { type PruneReport, ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import { SHOPS } from '../workspace-kit.js';

const DAY_MS = 86_400_000;

describe.each(SHOPS)('the bounds of a tool-call log over $name', ({ make }) => {
  it('are held by themselves when a day begins, and what went is told', async () => {
    const { backend, clock } = await make();
    const reports: PruneReport[] = [];
    const log = new ToolCallLog(backend, {
      clock,
      bounds: { daysMax: 2 },
      onPruned: (report) => reports.push(report),
    });
    for (let day = 1; day <= 4; day += 1) {
      const call = { callId: `c${day}`, tool: 't', agent: 'a', input: { day }, output: null, error: null };
      await log.record({ ...call, startedMs: clock.nowMs(), durationMs: 1 });
      clock.advance(DAY_MS);
    }
    expect((await log.recent()).map(({ callId }) => callId)).toEqual(['c4', 'c3']);
    expect(reports.map(({ callsRemoved }) => callsRemoved)).toEqual([1, 1]);
    await log.close();
  });

  it('that are none are refused', async () => {
    const { backend } = await make();
    expect(() => new ToolCallLog(backend, { bounds: { callsMax: -1 } })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  });
});
