/**
 * Imports `UIMessage`s of the Vercel AI SDK (versions 5 and 6, and the parts of version 4), as chat hosts store them.
 *
 * An assistant message of several steps becomes several messages with their results in between. Ids and metadata of UI
 * messages, data parts, sources and approvals have no place in a conversation and are counted as dropped.
 */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { keepMessage } from '../reading/keep-message.js';
import { OpenCalls } from '../reading/open-calls.js';
import { objectField, secondsOf } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { messagesInHead, readStoredMessages } from './ai-sdk-documents.js';
import { userContent } from './ai-sdk-model-messages.js';
import type { Reading } from './ai-sdk-results.js';
import { messagesOfStep, textPartFrom } from './ai-sdk-step.js';
import { isDropped, isToolPart, stepsOf, typeOf } from './ai-sdk-ui-parts.js';

const ROLES = new Set<unknown>(['system', 'user', 'assistant', 'data']);
const PART_TYPES = new Set(['text', 'reasoning', 'file', 'step-start', 'source', 'source-url']);

export const uiMessagesImporter: TranscriptImporter = {
  format: 'ai-sdk-ui',
  entries: 'ai-sdk-ui',
  title: 'Vercel AI SDK UI messages',
  lookedFor: 'messages with `role` and typed `parts` (text, reasoning, file, tool-..., step-start, data-...)',
  recognises: (head: TranscriptHead) => {
    const messages = messagesInHead(head);
    return messages?.every(isUiMessage) === true && messages.some((message) => partsOf(message).length > 0);
  },
  read,
};

function isUiMessage(message: JsonObject): boolean {
  const { id, role, parts } = message;
  if (!ROLES.has(role) || !Array.isArray(parts) || (id !== undefined && typeof id !== 'string')) return false;
  return parts.every((part) => isJsonObject(part) && isUiPartType(typeOf(part)));
}

function isUiPartType(type: string): boolean {
  return PART_TYPES.has(type) || isToolPart(type) || /^(data|source)-/.test(type);
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const reading: Reading = { losses, openCalls: new OpenCalls() };
  for await (const { json, place } of readStoredMessages(source, losses)) {
    const time = timeOf(json);
    for (const message of uiMessagesFrom(json, place, reading)) {
      keepMessage(message, losses);
      yield { kind: 'message', message, ...time };
    }
  }
}

export function uiMessagesFrom(json: JsonObject, place: string, reading: Reading): Message[] {
  const { losses } = reading;
  const { role } = json;
  if (role !== 'system' && role !== 'user' && role !== 'assistant') {
    losses.unreadable('a message of an unknown role', place);
    return [];
  }
  if (json['id'] !== undefined) losses.drop('the id of a UI message', place);
  if (json['metadata'] !== undefined) losses.drop('the metadata of a message', place);
  if (role === 'assistant') return assistantFrom(json, place, reading);
  const parts = partsOf(json).filter((part) => keepOrDrop(part, place, losses));
  if (role === 'system') return [{ role, content: parts.map((part) => textPartFrom(part).text).join('') }];
  return [{ role, ...userContent([...parts, ...attachmentsOf(json)], place, losses) }];
}

function keepOrDrop(part: JsonObject, place: string, losses: LossAccount): boolean {
  return !isDropped(typeOf(part), place, losses);
}

function assistantFrom(json: JsonObject, place: string, reading: Reading): Message[] {
  return stepsOf(partsOf(json), place, reading.losses).flatMap((step) => messagesOfStep(step, reading));
}

/** Early versions stored no `parts`; the text is in `content`. */
function partsOf({ parts, content }: JsonObject): JsonObject[] {
  if (Array.isArray(parts)) return parts.filter(isJsonObject);
  return typeof content === 'string' ? [{ type: 'text', text: content }] : [];
}

/** Version 4 stored the user's files next to the parts. */
function attachmentsOf(json: JsonObject): JsonObject[] {
  const attachments = json['experimental_attachments'];
  if (!Array.isArray(attachments)) return [];
  return attachments.filter(isJsonObject).map((attachment) => ({ ...attachment, type: 'file' }));
}

/** The SDK itself stores no time; hosts write one to `createdAt`. */
function timeOf(json: JsonObject): { readonly ts?: number } {
  const given = json['createdAt'] ?? objectField(json, 'metadata')['createdAt'];
  return secondsOf(typeof given === 'string' ? Date.parse(given) : given);
}
