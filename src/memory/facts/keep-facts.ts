/** Selects the facts for a context without space for all of them. */
import type { SemanticItem } from '../models/memory-items.js';

/** At most `max` facts: pinned ones first, then the newest. Oldest first. */
export function keepFacts(items: readonly SemanticItem[], max: number): SemanticItem[] {
  if (items.length <= max) return [...items];
  let room = Math.max(0, Math.floor(max));
  return keepWhere(items, () => {
    room -= 1;
    return room >= 0;
  });
}

/** Facts within `maxChars` characters: pinned ones first, then the newest up to the first that does not fit. Oldest first. */
export function keepFactsWithin(items: readonly SemanticItem[], maxChars: number): SemanticItem[] {
  let room = maxChars;
  return keepWhere(items, ({ fact }) => {
    room -= fact.length;
    return room >= 0;
  });
}

function keepWhere(items: readonly SemanticItem[], fits: (item: SemanticItem) => boolean): SemanticItem[] {
  const newestFirst = items.toReversed();
  const wanted = [...newestFirst.filter(isPinned), ...newestFirst.filter((item) => !isPinned(item))];
  const first = wanted.findIndex((item) => !fits(item));
  const kept = new Set(first < 0 ? wanted : wanted.slice(0, first));
  return items.filter((item) => kept.has(item));
}

function isPinned({ pinned }: SemanticItem): boolean {
  return pinned === true;
}
