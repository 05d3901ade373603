/**
 * Reads the content of Anthropic messages, as the API and Claude Code write it: text, thinking, calls, results, images,
 * documents.
 */
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../../../core/json.js';
import type {
  ContentPart,
  Message,
  Origin,
  ProviderItem,
  ReasoningItem,
  ToolCallSpec,
} from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf } from '../reading/content-parts.js';
import { opaqueBlock, textOfBlock } from '../reading/opaque-blocks.js';
import type { OpenCalls } from '../reading/open-calls.js';
import { idText, isAbsent, signatureField, textField } from '../reading/record-fields.js';
import { isMediaBlock, mediaPartsFrom } from './anthropic-media.js';
import { resultMessageFrom } from './anthropic-results.js';

/** A block and its place: the lines of one answer are read together. */
export interface PlacedBlock {
  readonly block: JsonValue;
  readonly place: string;
}

interface AnswerParts {
  readonly parts: ContentPart[];
  readonly calls: ToolCallSpec[];
  readonly items: ProviderItem[];
}

const CALL_FIELDS = new Set(['type', 'id', 'name', 'input', 'cache_control']);
/** Tools that the provider runs itself. Their blocks go back only to the provider. */
const PROVIDER_BLOCK = /^(?:server_tool_use|mcp_tool_use|mcp_tool_result|[a-z_]{1,40}_tool_result)$/;

export function blocksOf(content: JsonValue | undefined, place: string): PlacedBlock[] {
  if (isAbsent(content)) return [];
  if (typeof content === 'string') return [{ block: { type: 'text', text: content }, place }];
  return (Array.isArray(content) ? content : [content]).map((block) => ({ block, place }));
}

/** One answer of the model. Reasoning between texts keeps its place. */
export function answerFromBlocks(
  blocks: readonly PlacedBlock[],
  origin: Origin | undefined,
  losses: LossAccount,
): Message {
  const read: AnswerParts = { parts: [], calls: [], items: [] };
  for (const { block, place } of blocks) readAnswerBlock(block, place, origin, read, losses);
  const { parts, calls, items } = read;
  return {
    role: 'assistant',
    ...assistantContentOf(parts),
    ...(calls.length > 0 ? { toolPayload: { toolCalls: calls } } : {}),
    ...(items.length > 0 ? { providerItems: items } : {}),
    ...(origin ? { origin } : {}),
  };
}

function readAnswerBlock(
  block: JsonValue,
  place: string,
  origin: Origin | undefined,
  read: AnswerParts,
  losses: LossAccount,
): void {
  if (!isJsonObject(block)) {
    addOpaque(block, origin, place, read, losses);
    return;
  }
  const type = block['type'];
  const text = textField(block, 'text');
  noteUncarried(block, place, losses);
  if (type === 'text' && text !== undefined) read.parts.push({ type: 'text', text });
  else if (type === 'thinking' || type === 'redacted_thinking') {
    if (read.calls.length > 0) losses.approximate('place of reasoning between tool calls', place);
    read.parts.push({ type: 'reasoning', reasoning: reasoningFrom(block, origin) });
  } else if (type === 'tool_use') read.calls.push(callFrom(block));
  else if (isMediaBlock(block)) {
    const media = mediaPartsFrom(block, place, losses);
    if (media.length > 0) read.parts.push(...media);
    else addOpaque(block, origin, place, read, losses);
  } else if (typeof type === 'string' && PROVIDER_BLOCK.test(type)) {
    losses.approximate('place of a block that only the provider understands', place);
    read.items.push({ origin: origin ?? ANTHROPIC, item: block });
    if (type !== 'web_search_tool_result') showText(textOfBlock(block), read.parts);
  } else addOpaque(block, origin, place, read, losses);
}

const ANTHROPIC = { provider: 'anthropic' } as const;

function addOpaque(
  block: JsonValue,
  origin: Origin | undefined,
  place: string,
  read: Pick<AnswerParts, 'parts' | 'items'>,
  losses: LossAccount,
): void {
  const { item, text } = opaqueBlock(block, origin ?? ANTHROPIC, place, losses);
  read.items.push(item);
  showText(text, read.parts);
}

function showText(text: string | null, parts: ContentPart[]): void {
  if (text !== null) parts.push({ type: 'text', text });
}

function reasoningFrom(block: JsonObject, origin: Origin | undefined): ReasoningItem {
  const encrypted = textField(block, 'data');
  const signature = signatureField(block, 'signature');
  return {
    text: textField(block, 'thinking') ?? null,
    ...(signature === undefined ? {} : { signature }),
    ...(block['type'] === 'redacted_thinking' ? { redacted: true } : {}),
    ...(block['type'] === 'redacted_thinking' && encrypted !== undefined ? { encrypted } : {}),
    ...(origin ? { origin } : {}),
  };
}

function callFrom(block: JsonObject): ToolCallSpec {
  const extra: JsonObject = {};
  for (const key of Object.keys(block)) if (!CALL_FIELDS.has(key)) setOwn(extra, key, block[key]!);
  return {
    id: idText(block['id']),
    name: idText(block['name']),
    arguments: block['input'] ?? {},
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

/** A user message of the API: each result becomes a message, followed by the texts and media of the same turn. */
export function userMessagesFrom(
  content: JsonValue | undefined,
  place: string,
  openCalls: OpenCalls,
  losses: LossAccount,
): Message[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const parts: ContentPart[] = [];
  const items: ProviderItem[] = [];
  const results: Message[] = [];
  for (const { block } of blocksOf(content, place)) {
    if (isJsonObject(block) && block['type'] === 'tool_result') {
      if (parts.length > 0) losses.approximate('text before a tool result, placed after it', place);
      results.push(resultMessageFrom(block, place, openCalls, losses));
    } else readUserBlock(block, place, { parts, items }, losses);
  }
  if (parts.length + items.length === 0)
    return results.length > 0 ? results : [{ role: 'user', content: '' }];
  const said: Message = {
    role: 'user',
    ...contentOf(parts),
    ...(items.length > 0 ? { providerItems: items } : {}),
  };
  return [...results, said];
}

function readUserBlock(
  block: JsonValue,
  place: string,
  read: Pick<AnswerParts, 'parts' | 'items'>,
  losses: LossAccount,
): void {
  if (typeof block === 'string') {
    read.parts.push({ type: 'text', text: block });
    return;
  }
  if (isJsonObject(block)) noteUncarried(block, place, losses);
  const text = isJsonObject(block) && block['type'] === 'text' ? textField(block, 'text') : undefined;
  const media = isJsonObject(block) && isMediaBlock(block) ? mediaPartsFrom(block, place, losses) : [];
  if (text !== undefined) read.parts.push({ type: 'text', text });
  else if (media.length > 0) read.parts.push(...media);
  else addOpaque(block, undefined, place, read, losses);
}

function noteUncarried(block: JsonObject, place: string, losses: LossAccount): void {
  if (!isAbsent(block['cache_control'])) losses.drop('cache marker', place);
  if (Array.isArray(block['citations']) && block['citations'].length > 0) losses.drop('citations', place);
}
