/** Events that memory reports to its host. Failures of the cache are events, because they do not fail a turn. */
import type { RekindleError } from '../core/errors.js';
import type { RepairCode } from '../messages/legality/repairs.js';
import type { RecalledPassage } from './recall/recall-report.js';
import type { ResultPlacement } from './working-context-snapshot.js';

/** The events of `memory.events`, by name. */
export type MemoryEvents = {
  /** Recorded input was not legal (blank, lone surrogates, arguments that are not an object). It was fixed in the context. */
  history_mended: { readonly code: RepairCode; readonly reason: string; readonly callId?: string };
  /** A result has no place in the context: a second one for its call, or one without a call. The trace is kept. */
  result_ignored: { readonly callId: string; readonly placement: ResultPlacement };
  snapshot_saved: {
    readonly bytesWritten: number;
    readonly whole: boolean;
    readonly setAside: string | null;
  };
  snapshot_failed: { readonly error: RekindleError };
  compacted: {
    readonly epochId: number;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    /** Tokens of the old list from the first changed message on: what a provider's prompt cache has lost. */
    readonly tokensLost: number;
    readonly turnIds: readonly string[];
  };
  /** The context was reduced before a request: results cleared, or messages trimmed. A compaction is reported by `compacted`. */
  context_fitted: {
    readonly rung: 'clear' | 'trim';
    /** Number of changed messages, and the first of them: everything from there on is lost from the provider's prompt cache. */
    readonly messages: number;
    readonly firstIndex: number;
    /** Tokens of the old list from the first changed message on. */
    readonly tokensLost: number;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
  };
  /** Passages that had left the context were added before a request. */
  recalled: {
    readonly turnId: string;
    readonly passages: number;
    /** The best of them, best first, at most twelve, and why they were recalled. */
    readonly best: readonly RecalledPassage[];
    readonly tokens: number;
    readonly tookMs: number;
  };
  /** Recall failed, so nothing was added. The turn continues without it. */
  recall_failed: { readonly turnId: string; readonly error: RekindleError };
  /**
   * The search by meaning was not complete, so the words ranked alone, or more than before. `question`: the embedder gave
   * no vector for a request. `passages`: it gave none for new passages; the next turn tries again. `stored`: stored
   * vectors cannot be read.
   */
  vectors_failed: { readonly step: 'question' | 'passages' | 'stored'; readonly error: RekindleError };
  compaction_refused: { readonly reason: string; readonly message: string; readonly failures: number };
  /** Automatic compaction stopped after this many consecutive failures. */
  compaction_stopped: { readonly failures: number };
};
