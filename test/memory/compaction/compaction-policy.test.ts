import { describe, expect, it } from 'vitest';
import { CompactionPolicy } from '../../../src/memory/compaction/compaction-policy.js';

describe('the compaction policy', () => {
  it('has the defaults of the seed', () => {
    expect(new CompactionPolicy()).toMatchObject({
      triggerRatio: 0.8,
      rawTailTurns: 4,
      maxItemChars: 2_000,
      safetyMarginTokens: 256,
      inputBudgetTokens: 128_000,
      failuresMax: 3,
      triggerTokens: 102_144,
    });
  });

  it('says that it is time at its share of the budget, less the margin', () => {
    const policy = new CompactionPolicy({
      inputBudgetTokens: 1_000,
      triggerRatio: 0.5,
      safetyMarginTokens: 100,
    });
    expect(policy.shouldCompact(399)).toBe(false);
    expect(policy.shouldCompact(400)).toBe(true);
    expect(policy.shouldCompact(400, 2_000)).toBe(false);
    expect(policy.shouldCompact(900, 2_000)).toBe(true);
  });

  it('never says so for an empty context, however small the budget', () => {
    expect(new CompactionPolicy({ inputBudgetTokens: 10 }).shouldCompact(0)).toBe(false);
  });
});
