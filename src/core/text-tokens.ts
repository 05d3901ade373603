/** Tokens of a text by a real tokenizer (o200k), loaded at first use. */

/** Contract: deterministic, and never below zero. */
export type CountTokens = (text: string) => number;

let loading: Promise<CountTokens> | null = null;

export function loadTokenizer(): Promise<CountTokens> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then(
    ({ countTokens }) =>
      // Text that looks like a control token is text here: nobody has a say over the tokenizer through a message.
      (text) =>
        countTokens(text, { disallowedSpecial: new Set(), allowedSpecial: new Set() }),
  );
  return loading;
}
