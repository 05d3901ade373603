/** Checks a request to the Anthropic Messages API: the API's schema, then the rules of the conversation. */

import { checkAnthropicBlocks } from './anthropic-blocks.js';
import { type AnthropicImageLimits, checkAnthropicImages } from './anthropic-images.js';
import { checkAnthropicCalls } from './anthropic-pairing.js';
import { checkAnthropicThinking } from './anthropic-thinking.js';
import { anthropicTurns, type Turn } from './anthropic-turns.js';
import {
  fieldOf,
  isBlank,
  listOf,
  type Report,
  type RequestViolation,
  violationsOf,
} from './request-check.js';
import { checkText } from './request-text.js';

/** Limits and abilities that differ by model. Default: those of most models. */
export interface AnthropicCheckOptions extends Partial<AnthropicImageLimits> {
  /** The model can continue a last assistant message. */
  readonly prefill?: boolean;
  /** The model accepts system messages between the others. */
  readonly systemInMessages?: boolean;
  readonly requestBytes?: number;
}

const REQUEST_BYTES = 32 * 1024 * 1024;
const MESSAGES_MAX = 100_000;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

export function checkAnthropicRequest(
  request: unknown,
  options: AnthropicCheckOptions = {},
): RequestViolation[] {
  return violationsOf((report) => {
    const messages = listOf(fieldOf(request, 'messages'));
    checkCount(messages.length, report);
    const turns = anthropicTurns(messages, options.systemInMessages ?? false, report);
    checkAnthropicBlocks(turns, report);
    checkEnds(turns, messages, options.prefill ?? false, report);
    checkAnthropicCalls(turns, report);
    checkAnthropicThinking(turns, fieldOf(request, 'thinking'), report);
    checkAnthropicImages(turns, options, report);
    checkSystem(fieldOf(request, 'system'), report);
    checkTools(fieldOf(request, 'tools'), turns, report);
    const bytes = checkText(request, 'anthropic/3.16', report);
    const bytesMax = options.requestBytes ?? REQUEST_BYTES;
    if (bytes > bytesMax) report('anthropic/3.15', '', `The body is larger than ${bytesMax} bytes.`);
  });
}

function checkCount(count: number, report: Report): void {
  if (count === 0) report('anthropic/3.0', 'messages', 'The request has no messages.');
  if (count > MESSAGES_MAX) {
    report('anthropic/3.1', 'messages', `The request has more than ${MESSAGES_MAX} messages.`);
  }
}

function checkEnds(
  turns: readonly Turn[],
  messages: readonly unknown[],
  prefill: boolean,
  report: Report,
): void {
  const [first] = turns;
  // A compaction replaces the messages before it, including the first user message.
  if (first && first.role !== 'user' && first.blocks[0]?.type !== 'compaction') {
    report('anthropic/3.2', first.path, 'The conversation does not begin with the user.');
  }
  const last = turns.at(-1);
  if (last?.role !== 'assistant') return;
  const block = last.blocks.at(-1);
  // Calls without results are reported elsewhere; the API continues calls of its own tools from here.
  if (last.blocks.some(({ type }) => type === 'tool_use') || isServerBlock(block?.type)) return;
  const path = `messages/${messages.length - 1}`;
  if (!prefill) report('anthropic/3.10', path, 'The conversation does not end with a user message.');
  const text = block?.type === 'text' ? fieldOf(block.block, 'text') : '';
  if (prefill && typeof text === 'string' && !isBlank(text) && text !== text.trimEnd()) {
    report('anthropic/3.10', block?.path ?? path, 'The last assistant message ends with white space.');
  }
}

function isServerBlock(type: string | undefined): boolean {
  return type === 'server_tool_use' || (type?.endsWith('_tool_result') ?? false);
}

function checkSystem(system: unknown, report: Report): void {
  if (system === undefined || typeof system === 'string') return;
  if (!Array.isArray(system)) {
    report('anthropic/3.0', 'system', 'The system prompt is neither a text nor a list of text blocks.');
    return;
  }
  system.forEach((block: unknown, i) => {
    const text = fieldOf(block, 'text');
    if (typeof text !== 'string') report('anthropic/3.0', `system/${i}`, 'The block is not a text block.');
    else if (isBlank(text)) report('anthropic/3.9', `system/${i}/text`, 'The text block is blank.');
  });
}

function checkTools(tools: unknown, turns: readonly Turn[], report: Report): void {
  const isUsed = turns.some(({ blocks }) =>
    blocks.some(({ type }) => type === 'tool_use' || type === 'tool_result'),
  );
  if (isUsed && listOf(tools).length === 0) {
    report('anthropic/3.8', 'tools', 'The messages hold calls or results, and the request defines no tools.');
  }
  if (tools !== undefined && !Array.isArray(tools)) {
    report('anthropic/3.0', 'tools', 'The tools are not a list.');
  }
  listOf(tools).forEach((tool, i) => {
    const name = fieldOf(tool, 'name');
    const type = fieldOf(tool, 'type');
    if (type === 'mcp_toolset' || (typeof name === 'string' && TOOL_NAME.test(name))) return;
    report('anthropic/3.18', `tools/${i}/name`, 'The tool name is not one.');
  });
}
