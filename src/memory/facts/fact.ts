/** A fact as hosts and tools see it. */
import type { FactTrace, SemanticItem } from '../models/memory-items.js';
import { type FactSource, UNKNOWN_ORIGIN } from './fact-source.js';

export interface Fact {
  readonly id: string;
  /** Seconds since 1970. */
  readonly ts: number;
  readonly text: string;
  readonly category: string | null;
  /** What it is about, where that was said. */
  readonly key: string | null;
  readonly source: FactSource;
  /** What it was made of: `user`, `agent`, `import`, `tool:NAME`; `unknown` in rows of older releases. */
  readonly origins: readonly string[];
  /** The trace it came from; null where that is not known. */
  readonly trace: FactTrace | null;
  readonly pinned: boolean;
  /** The id of the fact that stands in its place. */
  readonly replacedBy: string | null;
  /** Why it does not stand any more. */
  readonly gone: 'forgotten' | 'purged' | null;
  /** The scope whose agents share it; null for a fact of one agent. */
  readonly scope: string | null;
}

/** What a journal says about one fact. */
export interface FactEntry {
  readonly item: SemanticItem;
  readonly replacedBy: string | null;
  readonly gone: 'forgotten' | 'purged' | null;
  /** Seconds; when it was forgotten or purged. */
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
