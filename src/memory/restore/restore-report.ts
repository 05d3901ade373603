/** What a restore did, for people and for programs. Plain JSON. */
import type { Repair } from '../../messages/legality/repairs.js';
import type { UnknownTraces } from '../models/journal-header.js';
import type { RecallReport } from '../recall/recall-report.js';
import type { CallVerdict } from '../store/tool-call-ledger.js';
import type { Frontier } from '../working-context-reducer.js';

/** Where a restored context came from. */
export type RestoreSource =
  /** The cache was current. */
  | 'cache'
  /** The cache, and the traces after it. */
  | 'cache+tail'
  /** The traces alone. */
  | 'rebuilt'
  /** A snapshot of another format, and the traces that it lacked. */
  | 'imported'
  /** A checkpoint from which the agent starts. */
  | 'checkpoint';

/** Why the cache was not used. `detail` is for people. */
export interface CacheRefusal {
  readonly reason: 'missing' | 'damaged' | 'unreadable' | 'unsupported' | 'foreign' | 'diverged' | 'ignored';
  readonly detail: string;
}

/** Bytes of a file that could not be read. */
export interface DamageReport {
  /** Path of the file, relative to the agent's folder. */
  readonly file: string;
  readonly reason: string;
  readonly startByte: number;
  readonly bytes: number;
  /** The file to which the bytes were moved, if they were. */
  readonly setAside: string | null;
}

/** Who must act before a call can continue: a person who approves it, or the client that provides its result. */
export type WaitsFor = 'approval' | 'client';

/** A call without a result, and what the ledger knows of it. */
export interface InterruptedCall {
  readonly callId: string;
  readonly toolName: string;
  readonly turnId: string | null;
  /** Index of the message with the call. */
  readonly messageIndex: number;
  readonly verdict: CallVerdict;
  /** It was waiting for a person's approval. */
  readonly approvalPending: boolean;
  /** Null if the call waits for nobody. */
  readonly waitsFor: WaitsFor | null;
  /** Left open on purpose, because it waits. */
  readonly leftOpen: boolean;
}

/** An answer that was delivered in part when its process ended. */
export interface CutOffAnswer {
  readonly turnId: string;
  /** Length of the text that had been delivered, in UTF-16 units. */
  readonly characters: number;
  /** False if the calls of this response are recorded: then its text was whole. */
  readonly isCutOff: boolean;
}

/** What a restore found, repaired and could not determine. */
export interface RestoreReport {
  readonly agentId: string;
  readonly source: RestoreSource;
  /** Why the cache was not used; null if it was. */
  readonly cacheRefused: CacheRefusal | null;
  readonly messages: number;
  readonly epochId: number;
  readonly lastCompactionTs: number | null;
  /** Traces applied on top of the cache, or from nothing in a rebuild. */
  readonly tracesReplayed: number;
  /** Results in the traces without a place: a second one for its call, or one without a call. */
  readonly tracesIgnored: number;
  /** Kinds of traces that this release does not understand: their content is not in the context. */
  readonly tracesUnknown: readonly UnknownTraces[];
  readonly repairs: readonly Repair[];
  readonly damage: readonly DamageReport[];
  /** Records of messages, calls and results that were erased on request: see `erase`. */
  readonly erased: number;
  readonly interruptedCalls: readonly InterruptedCall[];
  /** Streamed answers whose end was never recorded. Their text is in the context. */
  readonly cutOffAnswers: readonly CutOffAnswer[];
  /** What was recalled for requests and is in the context, and why. */
  readonly recalls: readonly RecallReport[];
  /** Where the conversation stopped, before interrupted calls were closed. */
  readonly frontier: Frontier;
  readonly promptChanged: boolean;
  /** For prompt caches: compares the beginning of the list with the list that was saved last. */
  readonly prefix: {
    /** CRC-32 of the saved list; null without a readable cache. */
    readonly savedFingerprint: string | null;
    readonly savedMessages: number;
    /** Index of the first message that differs. Null: the saved list is the beginning of the restored one. */
    readonly firstDifference: number | null;
    /**
     * Tokens of the saved list from the first difference on. An estimate (one token per four bytes), because a restore
     * loads no tokenizer.
     */
    readonly tokensLost: number;
  };
  /** What could not be determined, in words. */
  readonly unknown: readonly string[];
  /** True for a dry restore, which writes nothing. */
  readonly dry: boolean;
  /** False if the cache file belongs to a newer release: turns are durable, but the cache is not updated. */
  readonly cacheWritable: boolean;
  readonly phasesMs: {
    readonly cache: number;
    readonly traces: number;
    readonly calls: number;
    readonly repair: number;
    readonly total: number;
  };
}
