/** Checks the content of a chat message: which roles may have none, and which parts each role may have. */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { imageUrlProblem } from './openai-media.js';
import { fieldOf, isFilledText, quote, type Report } from './request-check.js';
import type { RequestRule } from './request-rules.js';

const TEXT_ONLY = ['text'];

export function checkChatContent(message: unknown, path: string, report: Report): void {
  if (!isJsonObject(message)) return;
  const place = `${path}/content`;
  switch (message['role']) {
    case 'assistant':
      checkAssistantContent(message, place, report);
      return;
    case 'tool':
      checkContent(message['content'], place, 'openai-chat/1.5', TEXT_ONLY, report);
      return;
    case 'user': {
      const parts = ['text', 'image_url', 'input_audio', 'file'];
      checkContent(message['content'], place, 'openai-chat/1.6', parts, report);
      return;
    }
    case 'system':
    case 'developer':
      checkContent(message['content'], place, 'openai-chat/1.6', TEXT_ONLY, report);
      return;
  }
}

function checkAssistantContent(message: JsonObject, place: string, report: Report): void {
  const content = message['content'];
  if (content === null || content === undefined) {
    if (!speaksOtherwise(message)) {
      report('openai-chat/1.4', place, 'The assistant message has neither content nor calls.');
    }
    return;
  }
  checkContent(content, place, 'openai-chat/1.4', ['text', 'refusal'], report);
  const parts: unknown[] = Array.isArray(content) ? content : [];
  const refusals = parts.filter((part) => fieldOf(part, 'type') === 'refusal').length;
  if (refusals > 0 && parts.length > 1) {
    report('openai-chat/1.4', place, 'A refusal is the only part of its message.');
  }
}

/** Calls, a refusal or recorded audio can replace the content. An empty list of calls has its own rule. */
function speaksOtherwise(message: JsonObject): boolean {
  if (Array.isArray(message['tool_calls']) || isJsonObject(message['function_call'])) return true;
  return isFilledText(message['refusal']) || isJsonObject(message['audio']);
}

function checkContent(
  content: unknown,
  place: string,
  rule: RequestRule,
  allowed: readonly string[],
  report: Report,
): void {
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) {
    report(rule, place, 'The content is neither a text nor a list of parts.');
    return;
  }
  if (content.length === 0) report(rule, place, 'The list of parts is empty.');
  content.forEach((part: unknown, i) => {
    const type = fieldOf(part, 'type');
    const problem =
      typeof type === 'string' && allowed.includes(type)
        ? partProblem(type, part)
        : `A part of type ${quote(type)} may not be in a message of this role.`;
    if (problem !== null) report(rule, `${place}/${i}`, problem);
  });
}

function partProblem(type: string, part: unknown): string | null {
  const inner = fieldOf(part, type);
  switch (type) {
    case 'text':
    case 'refusal':
      return typeof inner === 'string' ? null : 'The part has no text.';
    case 'image_url':
      return imageUrlProblem(fieldOf(inner, 'url'));
    case 'input_audio':
      return isFilledText(fieldOf(inner, 'data')) ? null : 'The part has no audio data.';
    default:
      return isFilledText(fieldOf(inner, 'file_data')) || isFilledText(fieldOf(inner, 'file_id'))
        ? null
        : 'The part has no file.';
  }
}
