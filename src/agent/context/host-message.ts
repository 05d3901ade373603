/** The messages that a host's loop may hand over, typed by structure only. */
import type { Message } from '../../messages/message.js';

/** OpenAI chat, Anthropic, and `ModelMessage` of the AI SDK. */
export interface ContentMessage {
  readonly role: string;
  readonly content?: string | readonly object[] | null;
}

/** `UIMessage` of the AI SDK, or a content of Gemini. */
export interface PartsMessage {
  readonly role?: string;
  readonly parts?: readonly object[];
}

/** An item of OpenAI Responses. */
export interface TypedItem {
  readonly type: string;
}

/**
 * A message in any supported shape. Its content decides how it is read. An unreadable one is refused with
 * MESSAGE_INVALID before anything is written.
 */
export type HostMessage = Message | ContentMessage | PartsMessage | TypedItem;

/** A step of an AI SDK loop, as `onStepFinish` receives it. */
export interface HostStep {
  readonly response: { readonly messages: readonly HostMessage[] };
  readonly usage?: { readonly inputTokens?: number | undefined };
}

/** The argument of the AI SDK's `prepareStep`. */
export interface HostStepToPrepare {
  readonly steps: readonly HostStep[];
  readonly model?: string | { readonly modelId?: string };
}
