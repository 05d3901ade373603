/**
 * Imports stored `ModelMessage`s of the Vercel AI SDK, versions 5 and 6, and `CoreMessage`s of version 4.
 *
 * Plain texts alone do not identify the SDK: half of all chat formats look the same. A part or field that only the SDK
 * writes does.
 */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { originFrom } from '../../ai-sdk-signatures.js';
import type { ContentPart, Message, ProviderItem } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { contentOf } from '../reading/content-parts.js';
import { keepMessage } from '../reading/keep-message.js';
import { opaqueBlock } from '../reading/opaque-blocks.js';
import { OpenCalls } from '../reading/open-calls.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { messagesInHead, readStoredMessages } from './ai-sdk-documents.js';
import { mediaFrom } from './ai-sdk-media.js';
import { type Reading, toolMessagesFrom } from './ai-sdk-results.js';
import { messagesOfStep, textPartFrom } from './ai-sdk-step.js';

const ROLES = new Set<unknown>(['system', 'user', 'assistant', 'tool']);
const CALL_PARTS = new Set<unknown>(['tool-call', 'tool-result']);

export const aiSdkModelMessagesImporter: TranscriptImporter = {
  format: 'ai-sdk-model',
  entries: 'ai-sdk-model',
  title: 'Vercel AI SDK model messages',
  lookedFor:
    'messages with `role` and `content`, with tool-call, tool-result or file parts or `providerOptions`',
  recognises: (head: TranscriptHead) => {
    const messages = messagesInHead(head);
    return messages?.every(isModelMessage) === true && messages.some(isOfTheSdk);
  },
  read,
};

function isModelMessage(message: JsonObject): boolean {
  const { role, content, parts } = message;
  return ROLES.has(role) && parts === undefined && (typeof content === 'string' || Array.isArray(content));
}

function isOfTheSdk(message: JsonObject): boolean {
  return isJsonObject(message['providerOptions']) || partsOf(message).some(isSdkPart);
}

function isSdkPart(part: JsonObject): boolean {
  const { type, providerOptions, toolCallId, mediaType, mimeType, data } = part;
  if (isJsonObject(providerOptions)) return true;
  if (CALL_PARTS.has(type)) return typeof toolCallId === 'string';
  if (type === 'image') return part['image'] !== undefined && part['source'] === undefined;
  return type === 'file' && data !== undefined && typeof (mediaType ?? mimeType) === 'string';
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const reading: Reading = { losses, openCalls: new OpenCalls() };
  for await (const { json, place } of readStoredMessages(source, losses)) {
    for (const message of messagesFrom(json, place, reading)) {
      keepMessage(message, losses);
      yield { kind: 'message', message };
    }
  }
}

export function messagesFrom(json: JsonObject, place: string, reading: Reading): Message[] {
  const { losses } = reading;
  switch (json['role']) {
    case 'system':
      return [{ role: 'system', content: textOf(json) }];
    case 'user':
      return [{ role: 'user', ...userContent(partsOf(json), place, losses) }];
    case 'assistant':
      return messagesOfStep({ parts: partsOf(json), place }, reading);
    case 'tool':
      return resultsFrom(json, place, reading);
    default:
      losses.unreadable('a message of an unknown role', place);
      return [];
  }
}

function textOf(json: JsonObject): string {
  return partsOf(json)
    .map((part) => textPartFrom(part).text)
    .join('');
}

/** For parts without a provider's name: they are never sent back. */
const UNKNOWN = { provider: 'unknown' } as const;

/** A single text becomes plain content. Used for both stored forms of the SDK. */
export function userContent(
  given: readonly JsonObject[],
  place: string,
  losses: LossAccount,
): Pick<Message, 'content' | 'parts' | 'providerItems'> {
  const parts: ContentPart[] = [];
  const items: ProviderItem[] = [];
  for (const part of given) {
    const isFile = part['type'] === 'image' || part['type'] === 'file';
    const media = isFile ? mediaFrom(part) : null;
    if (part['type'] === 'text') parts.push({ type: 'text', text: textPartFrom(part).text });
    else if (media) parts.push({ type: 'media', media });
    else {
      const { item, text } = opaqueBlock(part, originFrom(part['providerOptions']) ?? UNKNOWN, place, losses);
      items.push(item);
      if (text !== null) parts.push({ type: 'text', text });
    }
  }
  return { ...contentOf(parts), ...(items.length > 0 ? { providerItems: items } : {}) };
}

function resultsFrom(json: JsonObject, place: string, reading: Reading): Message[] {
  const parts = partsOf(json);
  for (const { type } of parts) {
    if (type === 'tool-approval-response') reading.losses.drop('the approval of a tool call', place);
    else if (type !== 'tool-result') reading.losses.drop('a part of an unknown type', place);
  }
  return toolMessagesFrom(parts, place, reading);
}

function partsOf({ content }: JsonObject): JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}
