import { describe, expect, it } from 'vitest';
import { isNestedDeeper } from '../../src/core/json-text-depth.js';

describe('the depth of a JSON text', () => {
  it.each([
    ['7', 0, false],
    ['[{"a":[]}]', 3, false],
    ['[{"a":[]}]', 2, true],
    ['["[[[[", "\\"[[[[", {}]', 2, false],
    ['[[],[],[]]', 2, false],
    ['{"a":"\\\\"}[[', 1, true],
    ['"[[[[', 0, false],
  ])('%s is not deeper than allowed, or is: %i, %s', (text, max, expected) => {
    expect(isNestedDeeper(text, max)).toBe(expected);
  });

  it('is found in linear time', () => {
    for (const piece of ['[', '"\\', '\\', '"', '[]', '{"a":']) {
      const timeOf = (count: number) => {
        const start = performance.now();
        isNestedDeeper(piece.repeat(count), Number.POSITIVE_INFINITY);
        return performance.now() - start;
      };
      const short = timeOf(50_000);
      expect(timeOf(500_000)).toBeLessThan(40 * short + 500);
    }
  });
});
