import { describe, expect, it } from 'vitest';
import { formatTurnId, newId, turnNumber } from '../../src/core/ids.js';

describe('newId', () => {
  it('has a prefix, the time and a random part', () => {
    expect(newId('rt', 1_700_000_000_000)).toMatch(/^rt_1700000000000_[0-9a-f]{10}$/);
  });

  it('differs within one millisecond', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('rt', 1));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('turn ids', () => {
  it.each([
    [1, 'turn_0001'],
    [9_999, 'turn_9999'],
    [10_000, 'turn_10000'],
  ])('number %d is %s, and back', (turn, id) => {
    expect(formatTurnId(turn)).toBe(id);
    expect(turnNumber(id)).toBe(turn);
  });

  it.each([undefined, '', 'turn_', 'turn_x', 'run-7:turn:12', 'turn_1234567890123456', ' turn_0001'])(
    '%s has no number',
    (id) => {
      expect(turnNumber(id)).toBe(0);
    },
  );
});
