/** What memory tells its host while it works. Failures of the cache are events, because they are no failures of a turn. */
import type { RekindleError } from '../core/errors.js';
import type { RepairCode } from '../messages/legality/repairs.js';
import type { ResultPlacement } from './working-context-snapshot.js';

export type MemoryEvents = {
  /** Something that came in was not legal (blank, lone surrogates, arguments that are no object): the context has it mended. */
  history_mended: { readonly code: RepairCode; readonly reason: string; readonly callId?: string };
  /** A result that has no place in the context: a second one for its call, or one without a call. The trace is kept. */
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
    /** Of the list before, from the first message on that is another one now: what a provider's prompt cache has lost. */
    readonly tokensLost: number;
    readonly turnIds: readonly string[];
  };
  /** The context was made smaller before a request: results cleared, or messages trimmed. `compacted` reports a compaction. */
  context_fitted: {
    readonly rung: 'clear' | 'trim';
    /** How many messages changed, and the first of them: what comes from there on has left the provider's prompt cache. */
    readonly messages: number;
    readonly firstIndex: number;
    /** Of the list before, from the first one on. */
    readonly tokensLost: number;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
  };
  /** Passages of what had left the context came back before a request. */
  recalled: {
    readonly turnId: string;
    readonly passages: number;
    readonly tokens: number;
    readonly tookMs: number;
  };
  /** Nothing came back, because it could not be looked up. The turn goes on without. */
  recall_failed: { readonly turnId: string; readonly error: RekindleError };
  compaction_refused: { readonly reason: string; readonly message: string; readonly failures: number };
  /** Automatic compaction has stopped after this many failures in a row. */
  compaction_stopped: { readonly failures: number };
};
