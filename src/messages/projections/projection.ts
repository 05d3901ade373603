/**
 * A projection is a pure function of a list and a target: the same two give the same bytes. The list is not changed,
 * and the result is never stored.
 */
import type { JsonObject } from '../../core/json.js';
import type { ToolDescription } from '../../core/tool-definition.js';
import type { Message } from '../message.js';
import type { TargetLimits } from './target-limits.js';

/** A call without a result that waits for somebody. */
export interface WaitingCall {
  readonly waitsFor: 'approval' | 'client';
  /** The AI SDK's `tool-approval-request` and, after a decision, its `tool-approval-response`. The SDK recognises them. */
  readonly request?: JsonObject;
  readonly response?: JsonObject;
}

/** Describes the recipient of a request. All fields are optional. */
export interface ProjectionTarget {
  /** The provider that gets the request, if the format alone does not determine it (`ai-sdk`, compatible servers). */
  readonly provider?: string;
  /** Sent in the request. Reasoning that another model of the provider signed is left out. */
  readonly model?: string;
  /** Items that were encrypted for another account are left out. */
  readonly account?: string;
  /** The tools of the request. Without them, tools that the history used are declared as stubs if a provider requires them. */
  readonly tools?: readonly ToolDescription[];
  /** Waiting calls by id. They have not run, and they were not interrupted. */
  readonly waiting?: ReadonlyMap<string, WaitingCall>;
  /** Bytes by their `sha256:` reference. Media without bytes become a line of text. */
  readonly artifacts?: ReadonlyMap<string, Uint8Array>;
  /** Overrides of the known limits of the target. */
  readonly limits?: Partial<TargetLimits>;
  /** False: no reasoning is sent back (the request has thinking off). Default true: the target's own reasoning is sent. */
  readonly reasoning?: boolean;
  /** Only for `openai-chat`: servers with strict templates, and Mistral. Default `openai`. */
  readonly flavor?: 'openai' | 'strict' | 'mistral';
  /**
   * What to do if the list ends with the assistant. `user-turn` (default) adds a fixed user turn: a request that ends
   * with the assistant asks the model to continue its own text, which newer models reject. `as-is` adds nothing.
   */
  readonly ending?: 'user-turn' | 'as-is';
  /** False: no line tells the model that an answer was cut off. Default true. */
  readonly cutOffLine?: boolean;
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
  'cut-off-marked',
] as const;
/** A kind of note. Part of the API. */
export type NoteCode = (typeof NOTE_CODES)[number];

/** One thing that the request leaves out or changes. */
export interface ProjectionNote {
  readonly code: NoteCode;
  /** Index in the list (after its repair, if it needed one); null for notes about the whole request. */
  readonly messageIndex: number | null;
  readonly detail: string;
}

/** The result of `project`. */
export interface Projection<Request> {
  readonly request: Request;
  readonly notes: readonly ProjectionNote[];
  /** Ids of calls in the request → in the list, if they differ. */
  readonly callIds: ReadonlyMap<string, string>;
  /** Names of tools in the request → their own, if they differ. Use it to map the calls of the answer. */
  readonly toolNames: ReadonlyMap<string, string>;
}

export type Project<Request> = (
  messages: readonly Message[],
  target?: ProjectionTarget,
) => Projection<Request>;

/** Fixed text, without time or id, for providers that require the user to speak last. */
export const CONTINUE_TEXT = 'Please continue.';
/** Fixed text after an answer that was cut off. */
export const CUT_OFF_TEXT = 'Your last answer was cut off. Continue exactly where it stopped.';
/** Fixed line at the end of an answer that was cut off, if the user spoke after it. */
export const CUT_OFF_LINE = '[This answer was cut off.]';
/** Fixed text between a result and the user, for templates that require the assistant to speak there. */
export const BRIDGE_TEXT = 'I have the result.';
