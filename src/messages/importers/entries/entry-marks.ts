/**
 * Tells the formats of message lists apart by fields and blocks that only one format has. Looks at the content of each
 * entry. Fields around a list, and blocks of an unknown kind, are ignored.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { isAutoGenMessage } from '../openai-chat/autogen-message.js';
import { isAbsent, listField } from '../reading/record-fields.js';
import { isMemoryMessage } from '../rekindle/memory-message.js';
import { isNeutralMessage } from '../rekindle/neutral-message.js';
import { isResponsesItem } from '../responses/responses-items.js';
import type { EntryMark } from './entry-format.js';
import { partMarkOf } from './part-marks.js';

/** Maximum number of parts and calls checked per entry, so that one long entry does not cost more than many short ones. */
const MEMBERS_MAX = 200;

export function marksOf(entry: JsonValue): EntryMark[] {
  if (!isJsonObject(entry)) return [];
  const given = [
    envelopeMark(entry),
    ownMark(entry),
    roleMark(entry),
    callsMark(entry),
    partsMark(entry),
    ...fieldMarks(entry),
  ];
  const contents = listField(entry, 'content').slice(0, MEMBERS_MAX).map(partMarkOf);
  return [...given, ...contents].filter((mark) => mark !== null);
}

/** A whole response, or an item that is not a message. */
function envelopeMark(entry: JsonObject): EntryMark | null {
  const [choice] = listField(entry, 'choices');
  if (isJsonObject(choice) && isJsonObject(choice['message']))
    return { format: 'openai-chat', what: 'a list `choices` with messages' };
  const [candidate] = listField(entry, 'candidates');
  if (isJsonObject(candidate)) return { format: 'gemini', what: 'a list `candidates`' };
  if (entry['object'] === 'response' && Array.isArray(entry['output']))
    return { format: 'openai-responses', what: 'a response with a list `output`' };
  if (isResponsesItem(entry)) return { format: 'openai-responses', what: `an item \`${entry['type']}\`` };
  if (isAutoGenMessage(entry)) return { format: 'openai-chat', what: `a message of AutoGen` };
  const isAnswer = entry['type'] === 'message' && entry['role'] === 'assistant';
  if (isAnswer && 'stop_reason' in entry)
    return { format: 'anthropic', what: 'a response with `stop_reason`' };
  return null;
}

/** Other formats may also sign reasoning or name the kind of a message. */
function ownMark(entry: JsonObject): EntryMark | null {
  if (isMemoryMessage(entry)) return { format: 'rekindle', what: 'fields of a message in memory' };
  if (!isNeutralMessage(entry)) return null;
  const { kind: _kind, content: _content, ...rest } = entry;
  const isPlain = !isNeutralMessage(rest);
  return {
    format: 'rekindle',
    ...(isPlain ? { weak: true as const } : {}),
    what: 'fields of our stored form',
  };
}

function roleMark(entry: JsonObject): EntryMark | null {
  const { role } = entry;
  if (role === 'model') return { format: 'gemini', what: 'the role model' };
  if (role === 'developer' || role === 'function')
    return { format: 'openai-chat', weak: true, what: `the role ${role}` };
  const isResult = role === 'tool' && 'tool_call_id' in entry;
  const isOurs = 'tool_result' in entry || 'tool_error' in entry;
  return isResult && !isOurs ? { format: 'openai-chat', what: 'a result with `tool_call_id`' } : null;
}

function callsMark(entry: JsonObject): EntryMark | null {
  const calls = listField(entry, 'tool_calls').slice(0, MEMBERS_MAX);
  const isChat = calls.some(
    (call) => isJsonObject(call) && (isJsonObject(call['function']) || isJsonObject(call['custom'])),
  );
  if (isChat) return { format: 'openai-chat', what: 'calls with a field `function`' };
  if (isJsonObject(entry['function_call'])) return { format: 'openai-chat', what: 'a `function_call`' };
  const isEmpty = Array.isArray(entry['tool_calls']) && calls.length === 0;
  return isEmpty ? { format: 'openai-chat', weak: true, what: 'a field `tool_calls`' } : null;
}

/** `parts` without a type are Gemini's; with a type they are AI SDK UI parts. */
function partsMark(entry: JsonObject): EntryMark | null {
  const parts = listField(entry, 'parts').slice(0, MEMBERS_MAX);
  if (parts.length === 0 || !parts.every(isJsonObject) || !hasPlainRole(entry)) return null;
  if (parts.every((part) => part['type'] === undefined) && parts.some(isGeminiPart))
    return { format: 'gemini', what: '`parts` without a type' };
  const types = parts.map(({ type }) => type);
  const own = types.find((type) => typeof type === 'string' && OWN_UI_PARTS.test(type));
  if (own !== undefined) return { format: 'ai-sdk-ui', what: `a part \`${own}\`` };
  const isPlain = types.every((type) => type === 'text' || type === 'file' || type === 'reasoning');
  return isPlain && isAbsent(entry['tool_payload'])
    ? { format: 'ai-sdk-ui', weak: true, what: '`parts` with types' }
    : null;
}

const OWN_UI_PARTS = /^(?:tool-.+|dynamic-tool|step-start|data-.+|source-url|source-document)$/;

function hasPlainRole({ role }: JsonObject): boolean {
  return role === undefined || typeof role === 'string';
}

const GEMINI_FIELDS = [
  ...['text', 'functionCall', 'functionResponse', 'inlineData', 'fileData', 'executableCode'],
  ...['codeExecutionResult', 'function_call', 'function_response', 'inline_data', 'file_data'],
];

function isGeminiPart(part: JsonObject): boolean {
  return GEMINI_FIELDS.some((field) => field in part);
}

function fieldMarks(entry: JsonObject): EntryMark[] {
  const marks: EntryMark[] = [];
  if (isJsonObject(entry['providerOptions']))
    marks.push({ format: 'ai-sdk-model', what: 'a field `providerOptions`' });
  if (Array.isArray(entry['toolInvocations']) || Array.isArray(entry['experimental_attachments']))
    marks.push({ format: 'ai-sdk-ui', weak: true, what: 'fields of early UI messages' });
  if (typeof entry['reasoning_content'] === 'string' || Array.isArray(entry['thinking_blocks']))
    marks.push({ format: 'openai-chat', weak: true, what: 'reasoning beside the content' });
  return marks;
}
