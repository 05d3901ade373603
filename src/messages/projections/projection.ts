/**
 * What a projection is: a pure function of a list and a target. The same two give the same bytes; the list is never changed, and
 * nothing that is made here is written back.
 */
import type { JsonObject } from '../../core/json.js';
import type { ToolDescription } from '../../core/tool-definition.js';
import type { Message } from '../message.js';
import type { TargetLimits } from './target-limits.js';

/** A call without a result that waits for somebody. */
export interface WaitingCall {
  readonly waitsFor: 'approval' | 'client';
  /** The AI SDK's `tool-approval-request` and, once somebody decided, its `tool-approval-response`: it knows them again. */
  readonly request?: JsonObject;
  readonly response?: JsonObject;
}

export interface ProjectionTarget {
  /** Who gets the request, when the format alone does not say it (`ai-sdk`, compatible servers). */
  readonly provider?: string;
  /** Put into the request. What another model of the provider signed is left out. */
  readonly model?: string;
  /** What the account of another one encrypted is left out. */
  readonly account?: string;
  /** The tools of the request. Without them, tools that the history used are declared as stubs where a provider wants them. */
  readonly tools?: readonly ToolDescription[];
  /** Calls that wait, by their id: they did not run, and nobody stopped them. */
  readonly waiting?: ReadonlyMap<string, WaitingCall>;
  /** Bytes by their `sha256:` reference; a medium without them becomes a line of text. */
  readonly artifacts?: ReadonlyMap<string, Uint8Array>;
  /** Overrides of the limits that are known for the target. */
  readonly limits?: Partial<TargetLimits>;
  /** False: no reasoning is sent back (the request has thinking off). Default true: the target's own is. */
  readonly reasoning?: boolean;
  /** `openai-chat` only: servers with strict templates, and Mistral. Default `openai`. */
  readonly flavor?: 'openai' | 'strict' | 'mistral';
  /**
   * When the list ends with the assistant: `user-turn` (default) adds a fixed user turn, because a request that ends there asks the
   * model to go on with its own words, which newer models refuse; `as-is` leaves it so.
   */
  readonly ending?: 'user-turn' | 'as-is';
}

export const NOTE_CODES = [
  'repaired',
  'reasoning-omitted',
  'call-id-translated',
  'tool-name-translated',
  'tool-unknown',
  'tool-stub-declared',
  'media-omitted',
  'media-moved',
  'message-omitted',
  'provider-item-omitted',
  'signature-placeholder',
  'large-integer-as-text',
  'output-cut',
  'assistant-bridge-added',
  'user-turn-added',
] as const;
export type NoteCode = (typeof NOTE_CODES)[number];

export interface ProjectionNote {
  readonly code: NoteCode;
  /** Index in the list (after its repair, where it needed one); null for what is about the request as a whole. */
  readonly messageIndex: number | null;
  readonly detail: string;
}

export interface Projection<Request> {
  readonly request: Request;
  readonly notes: readonly ProjectionNote[];
  /** Ids of calls as the request has them → as the list has them, where they differ. */
  readonly callIds: ReadonlyMap<string, string>;
  /** Names of tools as the request has them → their own, where they differ: for the calls of the answer. */
  readonly toolNames: ReadonlyMap<string, string>;
}

export type Project<Request> = (
  messages: readonly Message[],
  target?: ProjectionTarget,
) => Projection<Request>;

/** Fixed, without time or id: stands where a provider wants the user to speak last. */
export const CONTINUE_TEXT = 'Please continue.';
/** Stands between a result and the user where a template wants the assistant to speak. */
export const BRIDGE_TEXT = 'I have the result.';
