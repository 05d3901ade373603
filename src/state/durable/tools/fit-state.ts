/** Fits a part of a document into a budget of tokens. */
import { fitValue } from '../../../core/fit-value.js';
import type { JsonValue } from '../../../core/json.js';
import { loadTokenizer } from '../../../core/text-tokens.js';

export interface FittedState {
  /** Null if nothing fits. */
  readonly value: JsonValue;
  /** Number of items, properties and texts that were left out or cut; 0 if everything is shown. */
  readonly leftOut: number;
}

/** A token has about this many characters; a text is cut with it. */
const TOKEN_LENGTH = 3;

/** Keeps whole items and properties from the beginning. A text alone is cut. */
export async function fitState(value: JsonValue, tokens: number): Promise<FittedState> {
  const count = await loadTokenizer();
  const fitted = fitValue(value, tokens, (part) => count(JSON.stringify(part)));
  if (fitted) return fitted;
  if (typeof value !== 'string') return { value: null, leftOut: 1 };
  const kept = value.slice(0, tokens * TOKEN_LENGTH).toWellFormed();
  return { value: `${kept}… [${value.length - kept.length} more characters]`, leftOut: 1 };
}
