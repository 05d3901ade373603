import { expect, it } from 'vitest';
import { RateLimit } from '../../src/server/access/rate-limit.js';

it('an address may send twice as many at once as in a second, not one more, and others are not held up', () => {
  let nowMs = 0;
  const limit = new RateLimit(2, () => nowMs);
  expect([1, 2, 3, 4, 5].map(() => limit.take('a'))).toEqual([true, true, true, true, false]);
  expect(limit.take('b')).toBe(true);
  nowMs += 500;
  expect([limit.take('a'), limit.take('a')]).toEqual([true, false]);
});
