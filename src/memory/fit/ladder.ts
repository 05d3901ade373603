/** The order of the rungs that reduce a context, for each place where a context can live. */
import type { CompactionPolicy } from '../compaction/compaction-policy.js';

/** A way to reduce the context, mildest first. */
export type Rung = 'clear' | 'compact' | 'trim';

/** Tokens of the messages: the target of a rung, and the hard limit. */
export interface Room {
  readonly target: number;
  readonly limit: number;
}

/** The rungs of one context. Each returns whether it changed something. */
export interface Ladder {
  readonly tokens: () => Promise<number>;
  /** Clears old results down to `target`. Does nothing if all of that would leave more than `atMost`. */
  readonly clear: (target: number, atMost: number) => Promise<boolean>;
  readonly compact: (target: number, isOffline: boolean) => Promise<boolean>;
  readonly trim: (target: number, limit: number) => Promise<boolean>;
}

/**
 * Clearing is used only if it brings the request to about the target; otherwise a compaction follows soon and breaks
 * the prompt cache again.
 */
const CLEAR_SLACK = 1.05;

/** @param recalled tokens that count only against the limit, not against the target */
export function roomOf(policy: CompactionPolicy, budgetTokens: number, overhead: number, recalled = 0): Room {
  const limit = policy.limitTokensOf(budgetTokens) - overhead;
  const target = policy.targetTokensOf(budgetTokens) - overhead + recalled;
  return { target: Math.min(target, limit), limit };
}

/** Stops at the first rung that suffices. Returns the rungs used, in order. */
export async function climb(ladder: Ladder, { target, limit }: Room): Promise<Rung[]> {
  const rungs: Rung[] = [];
  const done = (rung: Rung, did: boolean) => {
    if (did) rungs.push(rung);
  };
  done('clear', await ladder.clear(target, Math.min(target * CLEAR_SLACK, limit)));
  if (rungs.length > 0) return rungs;
  done('compact', await ladder.compact(target, false));
  if ((await ladder.tokens()) <= limit) return rungs;
  done('clear', await ladder.clear(target, Number.POSITIVE_INFINITY));
  if ((await ladder.tokens()) <= limit) return rungs;
  // Offline, because an unavailable model must not block the agent's next request.
  done('compact', await ladder.compact(target, true));
  if ((await ladder.tokens()) <= limit) return rungs;
  done('trim', await ladder.trim(target, limit));
  return rungs;
}
