/** What a host's loop hands over: messages of the shapes that are known, by structure only. */
import type { Message } from '../../messages/message.js';

/** OpenAI chat, Anthropic, and `ModelMessage` of the AI SDK. */
export interface ContentMessage {
  readonly role: string;
  readonly content?: string | readonly object[] | null;
}

/** `UIMessage` of the AI SDK, and a content of Gemini. */
export interface PartsMessage {
  readonly role?: string;
  readonly parts?: readonly object[];
}

/** An item of OpenAI Responses. */
export interface TypedItem {
  readonly type: string;
}

/** Read by its content, whole, or refused with MESSAGE_INVALID before anything is written. */
export type HostMessage = Message | ContentMessage | PartsMessage | TypedItem;

/** The step of an AI SDK loop, as `onStepFinish` has it. */
export interface HostStep {
  readonly response: { readonly messages: readonly HostMessage[] };
  readonly usage?: { readonly inputTokens?: number | undefined };
}

/** What the AI SDK gives to `prepareStep`. */
export interface HostStepToPrepare {
  readonly steps: readonly HostStep[];
  readonly model?: string | { readonly modelId?: string };
}
