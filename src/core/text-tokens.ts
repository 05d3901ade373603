/** Counts the tokens of a text with a real tokenizer (o200k), loaded on first use. */

/** Contract: deterministic, and never below zero. */
export type CountTokens = (text: string) => number;

/**
 * The tokenizer's time grows with the square of an unbroken run of letters, symbols or white space: 100 KB of one
 * letter take seconds. Longer runs are counted in parts; the count differs by less than 1%.
 */
const RUN_MAX = 256;
const LONG_RUN = new RegExp(
  `[\\p{L}\\p{M}]{${RUN_MAX + 1},}|[^\\s\\p{L}\\p{M}\\p{N}]{${RUN_MAX + 1},}|\\s{${RUN_MAX + 1},}`,
  'gu',
);

let loading: Promise<CountTokens> | null = null;

export function loadTokenizer(): Promise<CountTokens> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then(({ countTokens }) => {
    // Text that looks like a control token is counted as plain text: a message must not control the tokenizer.
    const options = { disallowedSpecial: new Set<string>(), allowedSpecial: new Set<string>() };
    return (text) => partsOf(text).reduce((sum, part) => sum + countTokens(part, options), 0);
  });
  return loading;
}

/** The text, cut only inside long runs and never inside a character. */
function partsOf(text: string): string[] {
  if (text.length <= RUN_MAX) return [text];
  const parts: string[] = [];
  let start = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    for (let cut = index + RUN_MAX; cut < index + run.length; cut += RUN_MAX) {
      const isLow = text.charCodeAt(cut) >= 0xdc00 && text.charCodeAt(cut) <= 0xdfff;
      parts.push(text.slice(start, isLow ? cut - 1 : cut));
      start = isLow ? cut - 1 : cut;
    }
  }
  parts.push(text.slice(start));
  return parts;
}
