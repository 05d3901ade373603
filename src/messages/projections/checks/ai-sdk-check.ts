/**
 * Checks the arguments of `generateText` or `streamText` of the Vercel AI SDK: its schema, then the rules of the
 * conversation.
 */
import { isJsonObject } from '../../../core/json.js';
import { checkAiSdkCalls } from './ai-sdk-calls.js';
import { checkAiSdkPart } from './ai-sdk-parts.js';
import {
  fieldOf,
  isBlank,
  listOf,
  quote,
  type Report,
  type RequestViolation,
  violationsOf,
} from './request-check.js';
import { checkText } from './request-text.js';

const PARTS = new Map<unknown, ReadonlySet<unknown>>([
  ['user', new Set(['text', 'image', 'file'])],
  ['assistant', new Set(['text', 'file', 'reasoning', 'tool-call', 'tool-result', 'tool-approval-request'])],
  ['tool', new Set(['tool-result', 'tool-approval-response'])],
]);

export function checkAiSdkRequest(request: unknown): RequestViolation[] {
  return violationsOf((report) => {
    const messages = listOf(fieldOf(request, 'messages'));
    if (messages.length === 0) report('ai-sdk/7.1', 'messages', 'The request has no messages.');
    messages.forEach((message, i) => {
      checkMessage(message, `messages/${i}`, report);
    });
    checkSystemAtHead(messages, report);
    checkSystem(fieldOf(request, 'system'), report);
    checkAiSdkCalls(messages, report);
    checkText(request, 'ai-sdk/7.10', report);
  });
}

function checkMessage(message: unknown, path: string, report: Report): void {
  const role = fieldOf(message, 'role');
  const content = fieldOf(message, 'content');
  const parts = PARTS.get(role);
  if (!isJsonObject(message) || (!parts && role !== 'system')) {
    report('ai-sdk/7.1', `${path}/role`, `The role ${quote(role)} is not known.`);
  } else if (typeof content === 'string' && role !== 'tool') {
    if (isBlank(content)) report('ai-sdk/7.6', `${path}/content`, 'The message is blank.');
  } else if (!Array.isArray(content) || !parts) {
    report('ai-sdk/7.1', `${path}/content`, `The content is none that a message of the ${role} may have.`);
  } else {
    if (content.length === 0) report('ai-sdk/7.6', `${path}/content`, 'The message has no parts.');
    content.forEach((part: unknown, i) => {
      const type = fieldOf(part, 'type');
      const place = `${path}/content/${i}`;
      if (parts.has(type)) checkAiSdkPart(part, place, report);
      else
        report('ai-sdk/7.1', place, `A part of type ${quote(type)} may not be in a message of the ${role}.`);
    });
  }
}

function checkSystemAtHead(messages: readonly unknown[], report: Report): void {
  let isHead = true;
  messages.forEach((message, i) => {
    if (fieldOf(message, 'role') !== 'system') isHead = false;
    else if (!isHead) report('ai-sdk/7.2', `messages/${i}`, 'A system message comes after another message.');
  });
}

/** A text, a system message, or a list of them. */
function checkSystem(system: unknown, report: Report): void {
  if (system === undefined || typeof system === 'string') return;
  const list: readonly unknown[] = Array.isArray(system) ? system : [system];
  list.forEach((message) => {
    if (fieldOf(message, 'role') === 'system' && typeof fieldOf(message, 'content') === 'string') return;
    report('ai-sdk/7.1', 'system', 'The system prompt is neither a text nor system messages.');
  });
}
