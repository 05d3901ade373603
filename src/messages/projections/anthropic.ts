/**
 * Projects messages to a request of the Anthropic Messages API.
 *
 * The results of one batch form one user message with nothing else in it. The user's next text is a separate message,
 * which the API joins. Signed thinking is sent back whole and in its place, or not at all.
 */
import type { JsonObject } from '../../core/json.js';
import {
  isBlankText,
  type Media,
  type Message,
  partsOf,
  type ReasoningItem,
  resultText,
  toolCallsOf,
  toolResultOf,
} from '../message.js';
import { argumentsObjectOf } from './call-arguments.js';
import type { SentMedia } from './media-plan.js';
import { ownCompactionOf } from './own-compaction.js';
import { Preparation } from './preparation.js';
import type { Projection, ProjectionTarget } from './projection.js';
import { endingInText, isOwn, replayedParts } from './reasoning-origin.js';
import { markedOutputText } from './tool-output.js';

export interface AnthropicText {
  type: 'text';
  text: string;
}

export type AnthropicImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

export interface AnthropicImage {
  type: 'image';
  source: { type: 'base64'; media_type: AnthropicImageType; data: string } | { type: 'url'; url: string };
}

export interface AnthropicDocument {
  type: 'document';
  source: { type: 'base64'; media_type: 'application/pdf'; data: string } | { type: 'url'; url: string };
}

export type AnthropicThinking =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string };

export interface AnthropicToolUse {
  type: 'tool_use';
  id: string;
  name: string;
  input: JsonObject;
}

type Shown = AnthropicText | AnthropicImage | AnthropicDocument;

export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content: string | Shown[];
  is_error?: true;
}

type AnthropicBlock = AnthropicThinking | AnthropicText | AnthropicToolUse;

export type AnthropicMessage =
  | { role: 'user'; content: string | (Shown | AnthropicToolResult)[] }
  | { role: 'assistant'; content: AnthropicBlock[] };

/** Body of a request to the Anthropic Messages API, without the settings that only the host knows (`max_tokens`). */
export interface AnthropicRequest {
  model?: string;
  system?: string;
  messages: AnthropicMessage[];
  tools?: { name: string; description: string; input_schema: JsonObject & { type: 'object' } }[];
}

/** PDF documents, in addition to images. */
function accepts(media: Media, mime: string): boolean {
  return media.kind === 'file' && mime === 'application/pdf';
}

export function projectAnthropic(
  messages: readonly Message[],
  target: ProjectionTarget = {},
): Projection<AnthropicRequest> {
  const preparation = new Preparation('anthropic', messages, target, accepts);
  preparation.beginAtCompaction('anthropic');
  const out: AnthropicMessage[] = [];
  for (const { message } of preparation.conversation()) {
    if (message.role === 'assistant') addAssistant(message, preparation, out);
    else if (message.role === 'tool') addResult(message, preparation, out);
    else out.push({ role: 'user', content: userContent(message, preparation) });
  }
  const added = preparation.addedUserTurn();
  if (added !== null) out.push({ role: 'user', content: added });
  else trimPrefill(out);
  const system = preparation.systemText;
  const tools = preparation.tools(true).map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: { ...inputSchema, type: 'object' as const },
  }));
  return preparation.finish({
    ...(target.model === undefined ? {} : { model: target.model }),
    ...(system === '' ? {} : { system }),
    messages: out,
    ...(tools.length === 0 ? {} : { tools }),
  });
}

function addAssistant(message: Message, preparation: Preparation, out: AnthropicMessage[]): void {
  const calls = toolCallsOf(message);
  const { target } = preparation;
  const compaction = ownCompactionOf(message, 'anthropic', target);
  preparation.omitProviderItems(message, compaction ? 1 : 0);
  const isOurs = (item: ReasoningItem) => isOwn(item.origin ?? message.origin, 'anthropic', target);
  const replayed = replayedParts(message, target, (item) => isOurs(item) && thinkingBlock(item) !== null);
  const { parts, omitted } = endingInText(message, replayed);
  preparation.omitReasoning(omitted);
  // As the API returned it. The stable types of its client do not know the block, and a request without one must fit them.
  const blocks = (compaction ? [compaction] : []) as unknown as AnthropicBlock[];
  for (const part of parts) {
    const block = part.type === 'text' ? textBlock(part.text) : thinkingBlock(part.reasoning);
    if (block) blocks.push(block);
  }
  const ids = preparation.callIds(message);
  for (const [index, call] of calls.entries()) {
    const { value, hasLargeInteger } = argumentsObjectOf(call);
    if (hasLargeInteger) preparation.note('large-integer-as-text', `in the arguments of ${call.name}`);
    blocks.push({ type: 'tool_use', id: ids[index]!, name: preparation.toolName(call.name), input: value });
  }
  const last = blocks[blocks.length - 1];
  const isSaid = last !== undefined && last.type !== 'thinking' && last.type !== 'redacted_thinking';
  if (isSaid) out.push({ role: 'assistant', content: blocks });
  else preparation.note('message-omitted', 'nothing of it can be sent here');
}

/** Signed or encrypted content is not blank; a tool that lost the text may have stored an empty one. */
function isFilled(text: string | undefined): text is string {
  return text !== undefined && !isBlankText(text);
}

function thinkingBlock(item: ReasoningItem): AnthropicThinking | null {
  if (item.redacted && isFilled(item.encrypted)) return { type: 'redacted_thinking', data: item.encrypted };
  if (!isFilled(item.signature) || item.text === null || isBlankText(item.text)) return null;
  return { type: 'thinking', thinking: item.text, signature: item.signature };
}

function addResult(message: Message, preparation: Preparation, out: AnthropicMessage[]): void {
  const result = toolResultOf(message)!;
  const shown = partsOf(message).flatMap((part) => shownPart(part, preparation));
  // A result marked as an error may hold only text. With media, the text itself marks the error.
  const isMarked = result.toolError !== null && shown.every((part) => part.type === 'text');
  const text = isMarked ? resultText(result) : markedOutputText(result);
  const block: AnthropicToolResult = {
    type: 'tool_result',
    tool_use_id: preparation.ids.ofResult(result.toolCallId),
    content: shown.length === 0 ? text : [...(isBlankText(text) ? [] : [textBlock(text)]), ...shown],
    ...(isMarked ? { is_error: true as const } : {}),
  };
  const last = out[out.length - 1];
  if (last?.role === 'user' && isResults(last.content)) last.content.push(block);
  else out.push({ role: 'user', content: [block] });
}

function isResults(content: AnthropicMessage['content']): content is AnthropicToolResult[] {
  return Array.isArray(content) && content[0]?.type === 'tool_result';
}

function userContent(message: Message, preparation: Preparation): string | Shown[] {
  if (message.content !== null && partsOf(message).length === 1) return message.content;
  return partsOf(message).flatMap((part) => shownPart(part, preparation));
}

function shownPart(part: ReturnType<typeof partsOf>[number], preparation: Preparation): Shown[] {
  if (part.type === 'reasoning') return [];
  if (part.type === 'text') return isBlankText(part.text) ? [] : [textBlock(part.text)];
  const planned = preparation.media(part.media);
  return [typeof planned === 'string' ? textBlock(planned) : mediaBlock(planned)];
}

function textBlock(text: string): AnthropicText {
  return { type: 'text', text };
}

function mediaBlock({ media, data }: SentMedia): AnthropicImage | AnthropicDocument {
  if (data.kind === 'url') {
    const source = { type: 'url' as const, url: data.url };
    return media.kind === 'image' ? { type: 'image', source } : { type: 'document', source };
  }
  if (media.kind !== 'image')
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: data.data } };
  const media_type = data.mime as AnthropicImageType; // the plan accepts only these four
  return { type: 'image', source: { type: 'base64', media_type, data: data.data } };
}

/** The API rejects a prefilled answer that ends in white space. */
function trimPrefill(out: readonly AnthropicMessage[]): void {
  const last = out[out.length - 1];
  const block = last?.role === 'assistant' ? last.content[last.content.length - 1] : undefined;
  if (block?.type === 'text') block.text = block.text.trimEnd();
}
