import { describe, expect, it } from 'vitest';
import { timesIn } from '../../../src/memory/recall/times-in.js';

const NOW = Date.parse('2026-11-29T12:00:00Z');
const seconds = (text: string) => Date.parse(text) / 1000;

describe('the times that a question names', () => {
  it.each([
    ['What did we decide last Tuesday?', '2026-11-24T12:00:00Z'],
    ['Who called yesterday?', '2026-11-28T12:00:00Z'],
    ['What was the plan in May?', '2026-05-15T12:00:00Z'],
    ['What did I buy two weeks ago?', '2026-11-15T12:00:00Z'],
    ['What did I say on 7 May 2023?', '2023-05-07T12:00:00Z'],
    ['Where did we live in 2019?', '2019-06-01T00:00:00Z'],
  ])('of %j hold %s', async (question, moment) => {
    const ranges = await timesIn(question, NOW);
    expect(ranges.some(({ from, to }) => from <= seconds(moment) && seconds(moment) < to)).toBe(true);
  });

  it('of a month without a year are never in the future', async () => {
    for (const { from } of await timesIn('in December', NOW)) expect(from).toBeLessThan(NOW / 1000);
  });

  it('are none where a question names none', async () => {
    expect(await timesIn('What is my favourite colour?', NOW)).toEqual([]);
  });
});
