/** Decides whether two facts are about the same thing: by a given key, else by their text. */
import { tryParseJson } from '../../core/json.js';
import type { SemanticItem } from '../models/memory-items.js';

/** The prefix that the offline extraction puts before a user's words. */
export const USER_SAID = 'The user said: ';

export function keyOfFact({ key, fact }: Pick<SemanticItem, 'key' | 'fact'>): string {
  return key === undefined ? textKey(fact) : `key ${key}`;
}

/** Equal for texts that differ only in case, spaces, quotes or the final full stop. */
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
