import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, describe, expect, it } from 'vitest';
import { type CountTokens, countInSlices, loadTokenizer } from '../../src/core/text-tokens.js';
import { TimeSlices } from '../../src/core/time-slices.js';
import { runParameters } from '../property/seed.js';

const count = await loadTokenizer();
const folder = mkdtempSync(path.join(os.tmpdir(), 'rekindle-tokens-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const asText = { disallowedSpecial: new Set<string>(), allowedSpecial: new Set<string>() };
/** Of every kind that the encoding tells apart, and some that it could stumble over. */
const texts = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom(
        ' the',
        "it's",
        "WE'LL",
        '12345',
        '\r\n\r\n',
        '  ',
        '//\n',
        '<|endoftext|>',
        '\ud800',
        'e\u0301',
      ),
      fc.constantFrom(
        'const tokens = ',
        '"key": "value", ',
        '今天天气很好。',
        'שלום',
        '👍🏽',
        'ÄRGER',
        '0x7fff',
      ),
    ),
    { maxLength: 60 },
  )
  // gpt-tokenizer loses a byte order mark.
  .map((parts) => parts.join('').replaceAll('\ufeff', ''));

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
    ['slashes and line breaks', '/\n'],
  ])('takes no time that grows with the square of a run of %s', (_, unit) => {
    const started = performance.now();
    const tokens = count(unit.repeat(100_000 / unit.length));
    expect(performance.now() - started).toBeLessThan(1_500);
    expect(tokens).toBeGreaterThan(300);
    expect(tokens).toBeLessThanOrEqual(200_000);
  });

  it.each(['a', ' ', ']', 'ש'])('stays close to the whole count for a run of %j', (unit) => {
    const text = `before ${unit.repeat(3_000)} after`;
    const whole = countTokens(text);
    expect(Math.abs(count(text) - whole)).toBeLessThanOrEqual(Math.max(12, whole / 50));
  });

  it('counts every text as gpt-tokenizer does', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(count(text)).toBe(countTokens(text, asText));
      }),
      runParameters('text-tokens', 400),
    );
  });

  it.each([" don't", " WE'LL go", ' cafe\u0301s', 'a\r\n\r\n  b', '今天天气很好。', 'x1', '}\n\n//'])(
    'counts a long text as a whole: %j again and again',
    (unit) => {
      const text = unit.repeat(8_000);
      expect(count(text)).toBe(countTokens(text, asText));
    },
  );

  it('counts a byte order mark, and what comes after it', () => {
    expect(count('\ufeffhello')).toBe(count('\ufeff') + count('hello'));
  });

  it('lets the event loop run while it counts a long text in slices, and counts the same', async () => {
    const text = 'The quick brown fox jumps over 1,234 lazy dogs. '.repeat(40_000);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const tokens = await countInSlices(text, new TimeSlices());
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
    expect(tokens).toBe(count(text));
  });
});

describe('the tokenizer of a bundle, where the data is no file', () => {
  it('counts the same', async () => {
    const outfile = path.join(folder, 'bundle.cjs');
    const entry = fileURLToPath(new URL('../../src/core/text-tokens.ts', import.meta.url));
    await build({
      entryPoints: [entry],
      outfile,
      format: 'cjs',
      bundle: true,
      platform: 'node',
      logLevel: 'error',
    });
    const bundled = createRequire(import.meta.url)(outfile) as { loadTokenizer(): Promise<CountTokens> };
    const counted = await bundled.loadTokenizer();
    for (const text of ['hello world', "it's 12345 今天 👍🏽\r\n", '\ufeffÄRGER\ud800']) {
      expect(counted(text)).toBe(count(text));
    }
  });
});
