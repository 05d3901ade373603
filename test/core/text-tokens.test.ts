import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../src/core/text-tokens.js';

const count = await loadTokenizer();

describe('counting tokens', () => {
  it('counts as o200k does', () => {
    expect(count('')).toBe(0);
    expect(count('hello world')).toBe(2);
    expect(count('<|endoftext|>')).toBeGreaterThan(1);
  });

  it.each([
    ['a letter', 'a'],
    ['space', ' '],
    ['marks', ']]>'],
    ['letters without space', 'שלום'],
    ['emoji', '👍🏽'],
  ])('takes no time that grows with the square of a run of %s', (_, unit) => {
    const started = performance.now();
    const tokens = count(unit.repeat(100_000 / unit.length));
    expect(performance.now() - started).toBeLessThan(1_500);
    expect(tokens).toBeGreaterThan(300);
    expect(tokens).toBeLessThanOrEqual(200_000);
  });

  it.each(['a', ' ', ']', 'ש'])('stays close to the whole count for a run of %j', async (unit) => {
    const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
    const text = `before ${unit.repeat(3_000)} after`;
    const whole = countTokens(text);
    expect(Math.abs(count(text) - whole)).toBeLessThanOrEqual(Math.max(12, whole / 50));
  });
});
