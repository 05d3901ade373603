/**
 * Tells OpenAI chat messages from other formats. `role` and `content` alone prove little, so marks that only other
 * formats have count against it, in the members and in the document around them.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { isAbsent, listField, objectField, textField } from '../reading/record-fields.js';
import { isNeutralMessage } from '../rekindle/neutral-message.js';
import type { TranscriptHead } from '../transcript.js';
import { isAutoGenMessage } from './autogen-message.js';

const ROLES: ReadonlySet<JsonValue | undefined> = new Set([
  ...['system', 'developer', 'user', 'assistant', 'tool', 'function'],
]);
/** Roles that only this family of formats has in its lists. */
const OWN_ROLES: ReadonlySet<JsonValue | undefined> = new Set(['system', 'developer', 'tool', 'function']);
const PARTS: ReadonlySet<JsonValue | undefined> = new Set([
  ...['text', 'image_url', 'input_audio', 'file', 'refusal'],
]);
/** Fields of members that other formats have. */
const FOREIGN_FIELDS = [
  ...['extra', 'agent', 'is_demo', 'message_type', 'parts', 'type', 'uuid', 'modelInfo', 'message'],
  ...['toolCalls', 'tool_payload', 'metrics', 'sessionID', 'messageId', 'userState'],
];
/** Texts of SWE-agent's prompts: its smallest histories have no field of their own. */
const SWE_AGENT = /COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|```mswea_bash_command/;

export function isChatHead(head: TranscriptHead): boolean {
  switch (head.shape) {
    case 'object':
      return isChatDocument(head);
    case 'folder':
      return false;
    default:
      return isChatList(head.items);
  }
}

/** The messages of a record that holds a whole conversation; null for other records. */
export function conversationIn(json: JsonValue | undefined): readonly JsonValue[] | null {
  if (!isJsonObject(json)) return null;
  const request = objectField(json, 'request');
  const holders = [
    json,
    request,
    objectField(json, 'body'),
    objectField(request, 'body'),
    objectField(json, 'input'),
  ];
  const holder = holders.find((candidate) => Array.isArray(candidate['messages']));
  return holder ? listField(holder, 'messages') : null;
}

function isChatDocument({ fields }: TranscriptHead): boolean {
  if (isAnthropicRequest(fields)) return false;
  const messages = conversationIn(fields);
  if (messages) return isAutoGenMessage(messages[0]) || isChatMessage(messages[0]);
  const [choice] = listField(fields, 'choices');
  return isJsonObject(choice) && isChatMessage(choice['message']);
}

function isAnthropicRequest(fields: JsonObject): boolean {
  const [tool] = listField(fields, 'tools');
  if (isJsonObject(tool) && 'input_schema' in tool) return true;
  const [first] = listField(fields, 'messages');
  const opensWithSystem = isJsonObject(first) && OWN_ROLES.has(first['role']);
  return /^claude/.test(textField(fields, 'model') ?? '') && 'max_tokens' in fields && !opensWithSystem;
}

function isChatList(items: readonly JsonValue[]): boolean {
  if (items.length === 0) return false;
  if (items.every(isAutoGenMessage)) return true;
  if (items.every(isConversation)) return true;
  return items.every(isChatMessage) && !isUnclear(items) && !items.some(isOfSweAgent);
}

function isConversation(item: JsonValue): boolean {
  return conversationIn(item)?.every(isChatMessage) === true;
}

function isChatMessage(json: JsonValue | undefined): boolean {
  if (!isJsonObject(json) || !ROLES.has(json['role']) || isNeutralMessage(json)) return false;
  if (!('content' in json) && !('tool_calls' in json) && !('function_call' in json)) return false;
  return !FOREIGN_FIELDS.some((key) => key in json) && hasChatContent(json) && hasChatCalls(json);
}

function hasChatContent(json: JsonObject): boolean {
  const { content } = json;
  if (isAbsent(content) || typeof content === 'string') return true;
  return Array.isArray(content) && content.every(isChatPart);
}

function isChatPart(part: JsonValue): boolean {
  if (!isJsonObject(part) || !PARTS.has(part['type'])) return false;
  return part['type'] !== 'file' || isJsonObject(part['file']);
}

function hasChatCalls(json: JsonObject): boolean {
  const calls = json['tool_calls'];
  if (isAbsent(calls)) return true;
  return Array.isArray(calls) && calls.every((call) => isJsonObject(call) && isChatCall(call));
}

function isChatCall(call: JsonObject): boolean {
  return isJsonObject(call['function']) || isJsonObject(call['custom']);
}

/** Answers as lists of texts and no other mark of this format: Anthropic's messages look the same. */
function isUnclear(items: readonly JsonValue[]): boolean {
  const messages = items.filter(isJsonObject);
  const speaksForIt = messages.some(
    (json) => OWN_ROLES.has(json['role']) || 'tool_calls' in json || hasUrl(json),
  );
  return (
    !speaksForIt && messages.some((json) => json['role'] === 'assistant' && Array.isArray(json['content']))
  );
}

function isOfSweAgent(item: JsonValue): boolean {
  return isJsonObject(item) && SWE_AGENT.test(textField(item, 'content') ?? '');
}

function hasUrl(json: JsonObject): boolean {
  return listField(json, 'content').some((part) => isJsonObject(part) && part['type'] === 'image_url');
}
