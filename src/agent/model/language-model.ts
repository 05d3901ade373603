/**
 * The model port: small, streaming, neutral.
 *
 * Contract: `stream` starts one request. It yields deltas in order and ends with `finish`. It throws on failure, also in
 * the middle; it may be called again with the same request. It changes nothing in the messages. When `signal` aborts, it stops
 * soon, by throwing or by ending.
 */
import type { ToolDescription } from '../../core/tool-definition.js';
import type { Message, Origin, ProviderItem, ReasoningItem, ToolCallSpec } from '../../messages/message.js';

export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDescription[];
  readonly signal: AbortSignal;
  /** Bytes of a `sha256:` reference; null when they are not there. */
  readonly loadArtifact: (ref: string) => Promise<Uint8Array | null>;
}

export interface TokenUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

export type ModelEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  /** A whole block of reasoning with what its provider signed; replaces its deltas. */
  | { readonly type: 'reasoning_item'; readonly item: ReasoningItem }
  | { readonly type: 'tool_call'; readonly call: ToolCallSpec }
  | { readonly type: 'provider_item'; readonly item: ProviderItem }
  | { readonly type: 'finish'; readonly reason: string; readonly usage?: TokenUsage };

export interface LanguageModel {
  /** Who answers; noted on each answer. */
  readonly origin: Origin;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
  /** Whether a failure may pass when tried again. Default: every failure may. */
  isRetryable?(thrown: unknown): boolean;
}
