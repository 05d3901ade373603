/** What hosts pass to memory, and its conversion to messages. Checked before anything is written. */
import { RekindleError } from '../core/errors.js';
import {
  type ContentPart,
  isBlankMessage,
  type Media,
  type Message,
  type Origin,
  type ProviderItem,
  type ReasoningItem,
  type ToolCallSpec,
} from '../messages/message.js';
import type { Blobs } from '../storage/ports.js';

/** A media item by its bytes, which become an artifact, or by a URL. */
export interface MediaInput {
  readonly kind: Media['kind'];
  readonly mime?: string;
  readonly name?: string;
  readonly data: Uint8Array | string;
}

/** A user message. Needs text, media or parts. */
export interface UserInput {
  readonly text?: string;
  /** Media after the text, in order. */
  readonly media?: readonly MediaInput[];
  /** Text and media in any order; instead of `text` and `media`. */
  readonly parts?: readonly ContentPart[];
  /** Never removed by a compaction. */
  readonly pinned?: boolean;
  readonly messageId?: string;
}

/** A model response. */
export interface AssistantResponse {
  readonly content: string | null;
  readonly reasoningContent?: string;
  readonly reasoning?: readonly ReasoningItem[];
  readonly parts?: readonly ContentPart[];
  readonly providerItems?: readonly ProviderItem[];
  readonly origin?: Origin;
  readonly toolCalls?: readonly ToolCallSpec[];
  readonly messageId?: string;
  readonly status?: 'aborted' | 'failed';
  /** Whether it ends the turn. Default: true for a response without calls. */
  readonly final?: boolean;
}

/** The result of one tool call. */
export interface ToolResultInput {
  readonly callId: string;
  readonly toolName: string;
  /** Any value; it is converted to JSON. Omit it if there is an error. */
  readonly result?: unknown;
  readonly error?: string | null;
  readonly parts?: readonly ContentPart[];
  readonly synthetic?: boolean;
  /** The turn of the call, if it is not the current one (a late result). */
  readonly turnId?: string;
}

/** A response together with results of its calls; null if the response itself is already recorded. */
export interface AnsweredResponse {
  readonly response: AssistantResponse | null;
  readonly results: readonly ToolResultInput[];
}

/** @throws MESSAGE_INVALID for a message without text and media */
export async function userMessageFrom(
  input: UserInput | string,
  blobs: Pick<Blobs, 'put'>,
): Promise<Message> {
  const given: UserInput = typeof input === 'string' ? { text: input } : input;
  const media = await Promise.all((given.media ?? []).map((item) => storeMedia(item, blobs)));
  const text: ContentPart[] = given.text === undefined ? [] : [{ type: 'text', text: given.text }];
  const parts = given.parts ?? [...text, ...media.map((item) => ({ type: 'media' as const, media: item }))];
  const [only] = parts;
  const plain = parts.length === 1 && only?.type === 'text' ? only.text : null;
  const message: Message = {
    role: 'user',
    content: plain,
    ...(plain === null ? { parts } : {}),
    ...(given.pinned ? { pinned: true } : {}),
    ...(given.messageId === undefined ? {} : { messageId: given.messageId }),
  };
  if (isBlankMessage(message)) {
    throw new RekindleError('MESSAGE_INVALID', 'A user message needs text or media.', {
      details: { field: 'text' },
    });
  }
  return message;
}

async function storeMedia(input: MediaInput, blobs: Pick<Blobs, 'put'>): Promise<Media> {
  const described = {
    kind: input.kind,
    ...(input.mime === undefined ? {} : { mime: input.mime }),
    ...(input.name === undefined ? {} : { name: input.name }),
  };
  if (typeof input.data === 'string') return { ...described, ref: input.data };
  const { digest, size } = await blobs.put(input.data);
  return { ...described, ref: `sha256:${digest}`, bytes: size };
}

/** The answer without its calls, which have their own traces; null if it contains nothing else. */
export function answerMessageFrom(response: AssistantResponse, messageId: string): Message | null {
  const { toolCalls, ...said } = response;
  const message: Message = {
    role: 'assistant',
    content: said.content,
    ...(said.parts ? { parts: said.parts } : {}),
    ...(said.reasoningContent === undefined ? {} : { reasoningContent: said.reasoningContent }),
    ...(said.reasoning?.length ? { reasoning: said.reasoning } : {}),
    ...(said.providerItems?.length ? { providerItems: said.providerItems } : {}),
    ...(said.origin ? { origin: said.origin } : {}),
    ...(said.status ? { status: said.status } : {}),
    messageId,
  };
  const silent =
    isBlankMessage(message) &&
    !said.reasoning?.length &&
    !said.reasoningContent &&
    !said.providerItems?.length &&
    said.status === undefined &&
    !(said.origin && toolCalls?.some((call) => call.signature !== undefined)); // needed to know who signed the calls
  return silent && toolCalls?.length ? null : message;
}

/** @throws MESSAGE_INVALID */
export function assertCalls(calls: readonly ToolCallSpec[]): void {
  const seen = new Set<string>();
  for (const call of calls) {
    if (typeof call.id !== 'string' || call.id === '' || typeof call.name !== 'string' || call.name === '') {
      throw new RekindleError('MESSAGE_INVALID', 'A tool call needs an id and a name.', {
        details: { field: 'toolCalls' },
      });
    }
    if (seen.has(call.id)) {
      throw new RekindleError('MESSAGE_INVALID', `Two calls of one response have the id ${call.id}.`, {
        details: { field: 'toolCalls', id: call.id },
      });
    }
    seen.add(call.id);
  }
}
