/**
 * The facts of a compaction: users' statements, found by rules; and the summarizer's facts, which are trusted no more
 * than its input.
 */
import type { Message } from '../../messages/message.js';
import type { SemanticFact } from '../compaction/summarizer.js';
import type { SemanticItem } from '../models/memory-items.js';
import { originsOf, sourceOf } from './fact-source.js';
import { lastingFacts } from './lasting-facts.js';

export interface CompactionFactsOptions {
  readonly newId: (prefix: string) => string;
  /** Seconds since 1970. */
  readonly ts: number;
  /** Cuts a text to the length of an item. */
  readonly clip: (text: string) => string;
}

/** The traces do not yet name their agent. */
export function compactionFacts(
  turns: readonly Message[],
  written: readonly SemanticFact[],
  { newId, ts, clip }: CompactionFactsOptions,
): SemanticItem[] {
  const stated = lastingFacts(turns);
  const isStated = new Set(stated.map(({ fact }) => fact));
  const origins = [...new Set(['agent', ...originsOf(turns)])];
  const lastTurn = turns.findLast(({ turnId }) => turnId !== undefined)?.turnId ?? null;
  const others = written
    .filter(({ fact }) => typeof fact === 'string' && fact.trim() !== '' && !isStated.has(fact))
    .map(({ fact, category }) => ({ fact, category, source: sourceOf(origins), origins, turnId: lastTurn }));
  const all = [...stated.map((item) => ({ ...item, origins: [item.source] })), ...others];
  return all.map(({ fact, category, source, origins: from, turnId }) => ({
    id: newId('sem'),
    ts,
    fact: clip(fact),
    ...(category === undefined ? {} : { category }),
    salience: 0,
    source,
    origins: from,
    ...(turnId === null ? {} : { trace: { agentId: '', number: null, turnId } }),
  }));
}
