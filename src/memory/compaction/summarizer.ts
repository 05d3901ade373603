/** The summarizer port, and the result it gives. */
import type { Message } from '../../messages/message.js';

export interface SemanticFact {
  readonly fact: string;
  /** `critical_issue`, `unresolved_work`, `user_preference`, `durable_fact`, `important_artifact`, or another word. */
  readonly category?: string;
}

export interface CompactionResult {
  /** What happened in these turns. Blank text is refused by the compactor. */
  readonly episodicSummary: string;
  readonly semanticFacts: readonly SemanticFact[];
}

export interface SummarizerOptions {
  readonly maxItemChars: number;
  /** Messages that stay in the context: what they say need not be said again. */
  readonly stays?: readonly Message[];
  /** Those of them that stay with less text, as they were. */
  readonly shortened?: readonly Message[];
  /** Summaries of what came before, which stay in the memory message, oldest first. */
  readonly previous?: readonly string[];
  readonly signal?: AbortSignal;
}

/**
 * Contract: changes nothing; may throw, and then the context stays as it was. The turns are whole: no call in them
 * is open. What it reads is data, not instruction: a model that summarizes must be told so.
 */
export interface Summarizer {
  summarize(turns: readonly Message[], options: SummarizerOptions): Promise<CompactionResult>;
}
