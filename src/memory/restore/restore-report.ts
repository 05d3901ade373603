/** What a restore did, for people and for programs. Plain JSON. */
import type { Repair } from '../../messages/legality/repairs.js';
import type { UnknownTraces } from '../models/journal-header.js';
import type { CallVerdict } from '../store/tool-call-ledger.js';
import type { Frontier } from '../working-context-reducer.js';

export type RestoreSource =
  /** The cache was current. */
  | 'cache'
  /** The cache, and the traces after it. */
  | 'cache+tail'
  /** The traces alone. */
  | 'rebuilt'
  /** A snapshot of another format, and the traces that it lacked. */
  | 'imported'
  /** A checkpoint: the agent begins from it. */
  | 'checkpoint';

export interface CacheRefusal {
  readonly reason: 'missing' | 'damaged' | 'unreadable' | 'unsupported' | 'foreign' | 'diverged' | 'ignored';
  readonly detail: string;
}

export interface DamageReport {
  /** File, relative to the agent's folder. */
  readonly file: string;
  readonly reason: string;
  readonly startByte: number;
  readonly bytes: number;
  /** Where the bytes were moved, if they were. */
  readonly setAside: string | null;
}

/** Whom a call waits for before it can go on: a person who approves it, or the client that gives its result. */
export type WaitsFor = 'approval' | 'client';

export interface InterruptedCall {
  readonly callId: string;
  readonly toolName: string;
  readonly turnId: string | null;
  /** Index of the message with the call. */
  readonly messageIndex: number;
  readonly verdict: CallVerdict;
  /** It waited for a person's approval. */
  readonly approvalPending: boolean;
  /** Null for a call that waits for nobody. */
  readonly waitsFor: WaitsFor | null;
  /** Left open, because it waits and is to stay open. */
  readonly leftOpen: boolean;
}

export interface RestoreReport {
  readonly agentId: string;
  readonly source: RestoreSource;
  /** Why the cache was not used; null when it was. */
  readonly cacheRefused: CacheRefusal | null;
  readonly messages: number;
  readonly epochId: number;
  readonly lastCompactionTs: number | null;
  /** Traces applied on top of the cache, or on top of nothing when rebuilt. */
  readonly tracesReplayed: number;
  /** Results in the traces that have no place: a second one for its call, or one without a call. */
  readonly tracesIgnored: number;
  /** Kinds of traces that were read and not understood: what they said is not in the context. */
  readonly tracesUnknown: readonly UnknownTraces[];
  readonly repairs: readonly Repair[];
  readonly damage: readonly DamageReport[];
  readonly interruptedCalls: readonly InterruptedCall[];
  /** Where the conversation stopped, before interrupted calls were closed. */
  readonly frontier: Frontier;
  readonly promptChanged: boolean;
  /** For prompt caches: how the list begins compared with the one that was saved last. */
  readonly prefix: {
    /** CRC-32 of the saved list; null without a readable cache. */
    readonly savedFingerprint: string | null;
    readonly savedMessages: number;
    /** Null: the saved list is the beginning of the restored one. */
    readonly firstDifference: number | null;
    /** Of the saved list, from there on, about: a token for four bytes, because a restore loads no tokenizer. */
    readonly tokensLost: number;
  };
  /** What cannot be known, in words. */
  readonly unknown: readonly string[];
  /** Nothing was written and nothing will be. */
  readonly dry: boolean;
  /** False while a newer release's cache stands in the place: turns are durable, but the cache is not brought up to date. */
  readonly cacheWritable: boolean;
  readonly phasesMs: {
    readonly cache: number;
    readonly traces: number;
    readonly calls: number;
    readonly repair: number;
    readonly total: number;
  };
}
