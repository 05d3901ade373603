/**
 * Projects messages to the input of the OpenAI Responses API, with `store: false`: the request holds everything that
 * the model needs.
 *
 * Items stored on the server are not referenced by id, so none can be missing or duplicated. Only encrypted reasoning
 * keeps its id, and is placed directly before the items that it led to.
 */
import type { JsonObject } from '../../core/json.js';
import {
  isBlankText,
  type Media,
  type Message,
  partsOf,
  type ReasoningItem,
  toolCallsOf,
  toolResultOf,
} from '../message.js';
import { argumentsTextOf } from './call-arguments.js';
import type { SentMedia } from './media-plan.js';
import { ownCompactionOf } from './own-compaction.js';
import { Preparation } from './preparation.js';
import type { Projection, ProjectionTarget } from './projection.js';
import { isOwn, replayedParts } from './reasoning-origin.js';
import { markedOutputText } from './tool-output.js';

export type ResponsesContent =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string };

export interface ResponsesReasoning {
  type: 'reasoning';
  id?: string;
  summary: { type: 'summary_text'; text: string }[];
  encrypted_content: string;
}

/** The API's own compaction of the items before it. */
export interface ResponsesCompaction {
  type: 'compaction';
  id?: string;
  encrypted_content: string;
}

export type ResponsesItem =
  | { role: 'user'; content: string | ResponsesContent[] }
  | { role: 'assistant'; content: string }
  | ResponsesReasoning
  | ResponsesCompaction
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string | ResponsesContent[] };

/** Body of a request to the Responses API. */
export interface OpenAiResponsesRequest {
  model?: string;
  instructions?: string;
  input: ResponsesItem[];
  tools?: { type: 'function'; name: string; description: string; parameters: JsonObject; strict: false }[];
  store: false;
  include?: ['reasoning.encrypted_content'];
}

function accepts(media: Media, mime: string): boolean {
  return media.kind === 'file' && mime === 'application/pdf' && !/^https?:/.test(media.ref);
}

export function projectOpenAiResponses(
  messages: readonly Message[],
  target: ProjectionTarget = {},
): Projection<OpenAiResponsesRequest> {
  const { preparation, groups } = responsesGroups(messages, target);
  const input = groups.flatMap(({ items }) => items);
  const added = preparation.addedUserTurn();
  if (added !== null) input.push({ role: 'user', content: added });
  const system = preparation.systemText;
  const tools = preparation.tools(false).map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    description,
    parameters: inputSchema,
    strict: false as const,
  }));
  return preparation.finish({
    ...(target.model === undefined ? {} : { model: target.model }),
    ...(system === '' ? {} : { instructions: system }),
    input,
    ...(tools.length === 0 ? {} : { tools }),
    store: false,
    ...(target.reasoning === false ? {} : { include: ['reasoning.encrypted_content'] as const }),
  } as OpenAiResponsesRequest);
}

/** A message of the list, after its repair, with the items that it becomes. */
export interface ResponsesGroup {
  readonly message: Message;
  readonly items: ResponsesItem[];
}

/** The items by message, for formats that keep more than the items. */
export function responsesGroups(
  messages: readonly Message[],
  target: ProjectionTarget,
): { readonly preparation: Preparation; readonly groups: readonly ResponsesGroup[] } {
  const preparation = new Preparation('openai-responses', messages, target, accepts);
  preparation.beginAtCompaction('openai');
  const itemIds = new Set<string>();
  const groups: ResponsesGroup[] = [];
  for (const { message } of preparation.conversation())
    groups.push({ message, items: itemsOf(message, preparation, itemIds) });
  return { preparation, groups };
}

function itemsOf(message: Message, preparation: Preparation, itemIds: Set<string>): ResponsesItem[] {
  if (message.role === 'assistant') return assistantItems(message, preparation, itemIds);
  if (message.role === 'tool') return [outputItem(message, preparation)];
  return [{ role: 'user', content: userContent(message, preparation) }];
}

function assistantItems(message: Message, preparation: Preparation, itemIds: Set<string>): ResponsesItem[] {
  const { target } = preparation;
  const compaction = ownCompactionOf(message, 'openai', target);
  preparation.omitProviderItems(message, compaction ? 1 : 0);
  const isOurs = (item: ReasoningItem) => isOwn(item.origin ?? message.origin, 'openai', target);
  const { parts, omitted } = replayedParts(message, target, (item) => isOurs(item) && isUsable(item));
  preparation.omitReasoning(omitted);
  const ids = preparation.callIds(message);
  const items: ResponsesItem[] = parts.map((part) =>
    part.type === 'text' ? { role: 'assistant', content: part.text } : reasoningItem(part.reasoning, itemIds),
  );
  for (const [index, call] of toolCallsOf(message).entries()) {
    const name = preparation.toolName(call.name);
    items.push({ type: 'function_call', call_id: ids[index]!, name, arguments: argumentsTextOf(call) });
  }
  // The API rejects reasoning that no item follows, so it is removed.
  const isLeft = isReasoning(items[items.length - 1]);
  while (isReasoning(items[items.length - 1])) items.pop();
  if (isLeft) preparation.omitReasoning('nothing follows it');
  if (compaction) items.unshift(compactionItem(compaction, itemIds));
  if (items.length === 0) preparation.note('message-omitted', 'nothing of it can be sent here');
  return items;
}

function isReasoning(item: ResponsesItem | undefined): boolean {
  return item !== undefined && 'type' in item && item.type === 'reasoning';
}

function isUsable(item: ReasoningItem): boolean {
  return item.encrypted !== undefined && !isBlankText(item.encrypted) && item.redacted !== true;
}

/** The id is sent if it is well-formed and not used yet. It is optional, and the API rejects duplicates. */
function reasoningItem(item: ReasoningItem, itemIds: Set<string>): ResponsesReasoning {
  const { id } = item;
  const keepsId =
    id !== undefined && /^rs_[A-Za-z0-9_-]{1,61}$/.test(id) && !id.endsWith('_') && !itemIds.has(id);
  if (keepsId) itemIds.add(id);
  const summary =
    item.text === null || isBlankText(item.text) ? [] : [{ type: 'summary_text' as const, text: item.text }];
  return { type: 'reasoning', ...(keepsId ? { id } : {}), summary, encrypted_content: item.encrypted! };
}

function compactionItem({ id, encrypted_content }: JsonObject, itemIds: Set<string>): ResponsesCompaction {
  const keepsId =
    typeof id === 'string' && /^cmp_[A-Za-z0-9_-]{1,60}$/.test(id) && !id.endsWith('_') && !itemIds.has(id);
  if (keepsId) itemIds.add(id);
  return { type: 'compaction', ...(keepsId ? { id } : {}), encrypted_content: String(encrypted_content) };
}

function outputItem(message: Message, preparation: Preparation): ResponsesItem {
  const result = toolResultOf(message)!;
  const text = cut(markedOutputText(result), preparation);
  const shown = partsOf(message).flatMap((part) => contentPart(part, preparation));
  const said: ResponsesContent[] = isBlankText(text) ? [] : [{ type: 'input_text', text }];
  const output: string | ResponsesContent[] = shown.length === 0 ? text : [...said, ...shown];
  return { type: 'function_call_output', call_id: preparation.ids.ofResult(result.toolCallId), output };
}

/** Cuts at a code point, so that no surrogate pair is split. */
function cut(text: string, preparation: Preparation): string {
  const max = preparation.limits.outputChars;
  if (text.length <= max) return text;
  preparation.note('output-cut', `${text.length} characters, of which ${max} are taken`);
  return text
    .slice(0, max)
    .toWellFormed()
    .replace(/\uFFFD$/, '');
}

function userContent(message: Message, preparation: Preparation): string | ResponsesContent[] {
  if (message.content !== null && partsOf(message).length === 1) return message.content;
  return partsOf(message).flatMap((part) => contentPart(part, preparation));
}

function contentPart(part: ReturnType<typeof partsOf>[number], preparation: Preparation): ResponsesContent[] {
  if (part.type === 'reasoning') return [];
  if (part.type === 'text') return isBlankText(part.text) ? [] : [{ type: 'input_text', text: part.text }];
  const planned = preparation.media(part.media);
  return [typeof planned === 'string' ? { type: 'input_text', text: planned } : mediaContent(planned)];
}

function mediaContent({ media, data }: SentMedia): ResponsesContent {
  const url = data.kind === 'url' ? data.url : `data:${data.mime};base64,${data.data}`;
  if (media.kind === 'image') return { type: 'input_image', image_url: url, detail: 'auto' };
  return { type: 'input_file', filename: media.name ?? 'document.pdf', file_data: url };
}
