/** Recognises an Anthropic request or message list by its blocks, or by fields that only such requests have next to the list. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { listField, textField } from '../reading/record-fields.js';
import type { TranscriptHead } from '../transcript.js';

const PLAIN_BLOCKS: ReadonlySet<unknown> = new Set(['text']);
const OWN_BLOCKS: ReadonlySet<unknown> = new Set([
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'web_search_tool_result',
]);
/** Fields of messages in other formats that also have `role` and `content`. */
const FOREIGN_FIELDS = ['tool_calls', 'tool_call_id', 'function_call', 'parts', 'tool_payload'];

export function isAnthropicList(head: TranscriptHead): boolean {
  const { items, shape } = head;
  if (shape === 'array') return items.length > 0 && items.every(isMessage) && items.some(hasBlocks);
  if (shape !== 'object') return false;
  const [first] = listField(head.fields, 'messages');
  if (!head.keys.has('messages')) return false;
  if (first === undefined) return isRequest(head);
  return isMessage(first) && (isRequest(head) || isSavedByCline(head) || hasOwnBlock(first));
}

/** Cline's list for display. */
export function isDisplayList(head: TranscriptHead): boolean {
  return head.shape === 'array' && head.items.length > 0 && head.items.every(isDisplayItem);
}

function isDisplayItem(item: JsonValue): boolean {
  if (!isJsonObject(item) || typeof item['ts'] !== 'number') return false;
  const { type } = item;
  return (type === 'say' || type === 'ask') && typeof item[type] === 'string';
}

function isMessage(item: JsonValue): boolean {
  if (!isJsonObject(item) || FOREIGN_FIELDS.some((field) => field in item)) return false;
  if (item['type'] !== undefined && item['type'] !== 'message') return false;
  const { role, content } = item;
  if (role !== 'user' && role !== 'assistant') return false;
  if (typeof content === 'string') return true;
  return Array.isArray(content) && content.every(isBlock);
}

function isBlock(block: JsonValue): boolean {
  return isJsonObject(block) && (PLAIN_BLOCKS.has(block['type']) || isOwnBlock(block));
}

function isOwnBlock(block: JsonObject): boolean {
  const isMedia = block['type'] === 'image' || block['type'] === 'document';
  return OWN_BLOCKS.has(block['type']) || (isMedia && isJsonObject(block['source']));
}

function hasBlocks(item: JsonValue): boolean {
  return isJsonObject(item) && listField(item, 'content').length > 0;
}

function hasOwnBlock(item: JsonValue): boolean {
  return (
    isJsonObject(item) && listField(item, 'content').some((block) => isJsonObject(block) && isOwnBlock(block))
  );
}

/** The system prompt is next to the list, or the tools have schemas in Anthropic's form. */
function isRequest({ fields, keys }: TranscriptHead): boolean {
  const [tool] = listField(fields, 'tools');
  const hasSchema = isJsonObject(tool) && isJsonObject(tool['input_schema']) && !('function' in tool);
  const isSystem = typeof fields['system'] === 'string' || listField(fields, 'system').some(isTextBlock);
  const isOfClaude = /^claude/.test(textField(fields, 'model') ?? '') && 'max_tokens' in fields;
  return isSystem || hasSchema || isOfClaude || keys.has('anthropic_version');
}

function isTextBlock(block: JsonValue): boolean {
  return isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string';
}

function isSavedByCline({ fields }: TranscriptHead): boolean {
  const [first] = listField(fields, 'messages');
  const hasList = isJsonObject(first) && Array.isArray(first['content']);
  const isSession = typeof fields['sessionId'] === 'string' && typeof fields['updated_at'] === 'string';
  return hasList && isSession && typeof fields['version'] === 'number';
}
