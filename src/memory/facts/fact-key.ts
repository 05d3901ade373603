/** When two facts are about the same: a key that was given, else what they say. */
import { tryParseJson } from '../../core/json.js';
import type { SemanticItem } from '../models/memory-items.js';

/** How the offline extraction writes what a user said. */
export const USER_SAID = 'The user said: ';

export function keyOfFact({ key, fact }: Pick<SemanticItem, 'key' | 'fact'>): string {
  return key === undefined ? textKey(fact) : `key ${key}`;
}

/** The same for texts that differ in case, spaces, quotes or the stop at their end. */
export function textKey(fact: string): string {
  const text = plainText(fact).normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
  return `text ${text.replace(/[.!;\s]+$/, '')}`;
}

/** The user's own words. */
function plainText(fact: string): string {
  if (!fact.startsWith(USER_SAID)) return fact;
  const said = fact.slice(USER_SAID.length);
  const quoted = said.startsWith('"') ? tryParseJson(said) : null;
  return typeof quoted === 'string' ? quoted : said;
}
