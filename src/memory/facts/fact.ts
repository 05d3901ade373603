/** A fact as hosts and tools see it. */
import type { FactTrace, SemanticItem } from '../models/memory-items.js';
import { type FactSource, UNKNOWN_ORIGIN } from './fact-source.js';

/** A lasting fact, as `memory.facts` lists it. */
export interface Fact {
  readonly id: string;
  /** Seconds since 1970. */
  readonly ts: number;
  readonly text: string;
  readonly category: string | null;
  /** The subject of the fact, if given. A newer fact with the same key replaces it. */
  readonly key: string | null;
  readonly source: FactSource;
  /** What it was made from: `user`, `agent`, `import`, `tool:NAME`; `unknown` in rows of older releases. */
  readonly origins: readonly string[];
  /** The trace it came from; null if unknown. */
  readonly trace: FactTrace | null;
  readonly pinned: boolean;
  /** The id of the fact that replaced it. */
  readonly replacedBy: string | null;
  /** Why it no longer counts; null if it does, or if it was replaced. */
  readonly gone: 'forgotten' | 'purged' | null;
  /** The scope whose agents share it; null for a fact of one agent. */
  readonly scope: string | null;
}

/** The journal's entry for one fact. */
export interface FactEntry {
  readonly item: SemanticItem;
  readonly replacedBy: string | null;
  readonly gone: 'forgotten' | 'purged' | null;
  /** When it was forgotten or purged, in seconds. */
  readonly goneTs: number | null;
}

export function doesStand({ replacedBy, gone }: FactEntry): boolean {
  return replacedBy === null && gone === null;
}

export function factOf({ item, replacedBy, gone }: FactEntry, scope: string | null): Fact {
  return {
    id: item.id,
    ts: item.ts,
    text: item.fact,
    category: item.category ?? null,
    key: item.key ?? null,
    source: item.source ?? 'agent',
    origins: originsOfItem(item),
    trace: item.trace ?? null,
    pinned: item.pinned ?? false,
    replacedBy,
    gone,
    scope,
  };
}

export function originsOfItem({
  origins,
  source,
}: Pick<SemanticItem, 'origins' | 'source'>): readonly string[] {
  return origins ?? [source ?? UNKNOWN_ORIGIN];
}
