import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/core/json.js';
import { summarizeValue } from '../../../src/workspace/context/summarize-value.js';

describe('the summary of a value', () => {
  it.each<[JsonValue, string]>([
    [[], 'list of 0 items'],
    [[1], 'list of 1 item'],
    [[1, 2], 'list of 2 items'],
    [{}, 'empty object'],
    [{ a: 1, b: [] }, 'object with a, b'],
    ['', 'text of 0 characters'],
    ['abc', 'text of 3 characters'],
    [1.5, '1.5'],
    [false, 'false'],
    [null, 'null'],
  ])('of %j is %j', (value, summary) => {
    expect(summarizeValue(value)).toBe(summary);
  });

  it('names twelve keys at most, and says how many more there are', () => {
    const many = Object.fromEntries(Array.from({ length: 14 }, (_, n) => [`k${n}`, n]));
    expect(summarizeValue(many)).toMatch(/k10, k11 and 2 more$/);
  });

  it('cuts long keys, and never leaves half of a character', () => {
    const summary = summarizeValue({ [`${'x'.repeat(39)}🙂 and on`]: 1, ['\ud800']: 1 });
    expect(summary.isWellFormed()).toBe(true);
    expect(summary.length).toBeLessThan(80);
  });

  it('is one line, also when keys have line breaks', () => {
    const summary = summarizeValue({ 'a\n- b: list of 1 item': 1, 'c\r\u0085\u2028\u2029\u001bd': 1 });
    expect(summary).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
  });

  it('names what is own, also when it is called as what is inherited', () => {
    expect(summarizeValue(JSON.parse('{"__proto__":1,"constructor":2}'))).toBe(
      'object with __proto__, constructor',
    );
  });
});
