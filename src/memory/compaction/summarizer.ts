/** The summarizer port, and its result. */
import type { Message } from '../../messages/message.js';

/** A fact that a summarizer found in the turns. */
export interface SemanticFact {
  readonly fact: string;
  /** `critical_issue`, `unresolved_work`, `user_preference`, `durable_fact`, `important_artifact`, or another word. */
  readonly category?: string;
}

/** What a summarizer returns. */
export interface CompactionResult {
  /** What happened in these turns. The compactor refuses a blank text. */
  readonly episodicSummary: string;
  readonly semanticFacts: readonly SemanticFact[];
}

/** Limits of a summary, and what stays in the context anyway. Lengths are in characters. */
export interface SummarizerOptions {
  readonly maxItemChars: number;
  /** Messages that stay in the context, so their content need not be repeated. */
  readonly stays?: readonly Message[];
  /** The originals of those that stay shortened. */
  readonly shortened?: readonly Message[];
  /** Earlier summaries that stay in the memory message, oldest first. */
  readonly previous?: readonly string[];
  readonly signal?: AbortSignal;
}

/**
 * Summarizes whole turns; no call in them is open. It changes nothing and may throw; then the context stays unchanged.
 * Its input is data, not instructions: tell a model so.
 */
export interface Summarizer {
  summarize(turns: readonly Message[], options: SummarizerOptions): Promise<CompactionResult>;
}
