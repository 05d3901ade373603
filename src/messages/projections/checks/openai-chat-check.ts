/**
 * Checks a request to the OpenAI Chat Completions API or a compatible server. `strict` is for chat templates that
 * require alternating turns, `mistral` for Mistral's additional rules.
 */
import { isJsonObject } from '../../../core/json.js';
import { checkChatCalls } from './openai-chat-calls.js';
import { checkChatContent } from './openai-chat-content.js';
import { checkMistralMessages, checkStrictOrder } from './openai-chat-strict.js';
import { functionNameProblem } from './openai-functions.js';
import { fieldOf, listOf, quote, type Report, type RequestViolation, violationsOf } from './request-check.js';
import { checkText } from './request-text.js';

export interface OpenAiChatCheckOptions {
  readonly flavor?: 'openai' | 'strict' | 'mistral';
}

const ROLES = new Set<unknown>(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

export function checkOpenAiChatRequest(
  request: unknown,
  options: OpenAiChatCheckOptions = {},
): RequestViolation[] {
  const flavor = options.flavor ?? 'openai';
  return violationsOf((report) => {
    const messages = listOf(fieldOf(request, 'messages'));
    if (messages.length === 0) report('openai-chat/1.0', 'messages', 'The request has no messages.');
    messages.forEach((message, i) => {
      checkShape(message, `messages/${i}`, report);
      checkChatContent(message, `messages/${i}`, report);
    });
    checkChatCalls(messages, flavor, report);
    if (flavor !== 'openai') checkStrictOrder(messages, report);
    if (flavor === 'mistral') checkMistralMessages(messages, report);
    checkTools(fieldOf(request, 'tools'), report);
    checkText(request, 'openai-chat/1.12', report);
  });
}

function checkShape(message: unknown, path: string, report: Report): void {
  if (!isJsonObject(message)) {
    report('openai-chat/1.0', path, 'The message is not an object.');
    return;
  }
  const role = message['role'];
  if (!ROLES.has(role)) report('openai-chat/1.0', `${path}/role`, `The role ${quote(role)} is not known.`);
  if (role === 'tool' && typeof message['tool_call_id'] !== 'string') {
    report('openai-chat/1.0', `${path}/tool_call_id`, 'The tool message does not say which call it answers.');
  }
}

function checkTools(tools: unknown, report: Report): void {
  if (tools === undefined) return;
  if (!Array.isArray(tools) || tools.length === 0) {
    report('openai-chat/1.0', 'tools', 'The tools are not a list of at least one.');
    return;
  }
  tools.forEach((tool: unknown, i) => {
    const kind = fieldOf(tool, 'type') === 'custom' ? 'custom' : 'function';
    const problem = functionNameProblem(fieldOf(fieldOf(tool, kind), 'name'));
    if (problem !== null) report('openai-chat/1.9', `tools/${i}/${kind}/name`, problem);
  });
}
