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

/** Keeps whole items and properties from the beginning; of a text its beginning and its end. */
export async function fitState(value: JsonValue, tokens: number): Promise<FittedState> {
  const count = await loadTokenizer();
  return fitValue(value, tokens, (part) => count(JSON.stringify(part))) ?? { value: null, leftOut: 1 };
}
