import type { ToolDescription } from '../../core/tool-definition.js';
import type { Message, Origin, ProviderItem, ReasoningItem, ToolCallSpec } from '../../messages/message.js';

/** One request to a model. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDescription[];
  readonly signal: AbortSignal;
  /** Bytes of a `sha256:` reference; null if they are not stored. */
  readonly loadArtifact: (ref: string) => Promise<Uint8Array | null>;
}

/** Tokens of one or more requests, as the provider reported them. */
export interface TokenUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** One event of a model's stream. The last one is `finish`. */
export type ModelEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  /** A whole block of reasoning with the provider's signature; replaces its deltas. */
  | { readonly type: 'reasoning_item'; readonly item: ReasoningItem }
  | { readonly type: 'tool_call'; readonly call: ToolCallSpec }
  | { readonly type: 'provider_item'; readonly item: ProviderItem }
  | { readonly type: 'finish'; readonly reason: string; readonly usage?: TokenUsage };

/**
 * The port to a model: implement it to use a model that the AI SDK does not support.
 *
 * Contract: `stream` starts one request. It yields deltas in order and ends with `finish`. It throws on
 * failure, also midway; it may be called again with the same request. It does not change the messages. When
 * `signal` aborts, it soon throws or ends.
 */
export interface LanguageModel {
  /** The provider and model that answer; noted on each answer. */
  readonly origin: Origin;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
  /** Whether a retry may succeed. Default: true for every failure. */
  isRetryable?(thrown: unknown): boolean;
}
