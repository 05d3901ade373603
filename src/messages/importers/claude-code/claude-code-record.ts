/** Classifies one line of a Claude Code session: part of the conversation, only a link of the chain, or neither. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { idText, listField, objectField, textField } from '../reading/record-fields.js';

/** Numbers, because an index keeps one for each record. */
export const RECORD_KIND = {
  /** Not part of the conversation, but other records have it as parent: progress, hooks, reminders. */
  link: 0,
  prompt: 1,
  /** A user record with results of tools only. */
  results: 2,
  answer: 3,
  /** The placeholder for an answer that never came. */
  failed: 4,
  compaction: 5,
  microcompaction: 6,
  summary: 7,
  /** A prompt that was typed during a turn and delivered in the middle of it, as an attachment. */
  queuedPrompt: 8,
  /** The same from older versions, which recorded only the queue. */
  queueOperation: 9,
} as const;

export type RecordKind = (typeof RECORD_KIND)[keyof typeof RECORD_KIND];

/** Record types without any conversation, and their names. */
const UNSAID: ReadonlyMap<string, string> = new Map([
  ['progress', 'progress event'],
  ['system', 'system event'],
  ['attachment', 'attachment (reminder, hook or file context)'],
  ['file-history-snapshot', 'snapshot of files'],
  ['summary', 'title of a session'],
  ['queue-operation', 'queue operation'],
  ...['custom-title', 'ai-title', 'agent-name', 'agent-color', 'agent-setting', 'tag', 'mode', 'task-summary']
    .concat(['permission-mode', 'pr-link', 'worktree-state', 'last-prompt', 'frame-link', 'relocated'])
    .concat(['bridge-session', 'attribution-snapshot', 'speculation-accept', 'started', 'result'])
    .map((type) => [type, 'metadata of the session'] as const),
]);

export function kindOf(record: JsonObject): RecordKind {
  const { type, subtype } = record;
  if (type === 'user' && isJsonObject(record['message'])) {
    if (record['isCompactSummary'] === true) return RECORD_KIND.summary;
    return isOnlyResults(contentOf(record)) ? RECORD_KIND.results : RECORD_KIND.prompt;
  }
  if (type === 'assistant' && isJsonObject(record['message'])) {
    return isFailedAnswer(record) ? RECORD_KIND.failed : RECORD_KIND.answer;
  }
  if (type === 'system' && subtype === 'compact_boundary') return RECORD_KIND.compaction;
  if (type === 'system' && subtype === 'microcompact_boundary') return RECORD_KIND.microcompaction;
  return queuedPromptOf(record) === undefined ? RECORD_KIND.link : RECORD_KIND.queuedPrompt;
}

/** In words, for the loss report. */
export function unsaidNameOf(record: JsonObject): string {
  const { type } = record;
  if (type === 'user' || type === 'assistant') return 'record without a message';
  return (typeof type === 'string' ? UNSAID.get(type) : undefined) ?? 'record of an unknown type';
}

export function contentOf(record: JsonObject): JsonValue | undefined {
  return objectField(record, 'message')['content'];
}

/** Ids of the calls in an answer, or of the calls that a user record answers. */
export function callIdsOf(record: JsonObject): string[] {
  const [type, key] = record['type'] === 'assistant' ? ['tool_use', 'id'] : ['tool_result', 'tool_use_id'];
  return listField(objectField(record, 'message'), 'content')
    .filter((block): block is JsonObject => isJsonObject(block) && block['type'] === type)
    .map((block) => idText(block[key!]))
    .filter((id) => id !== '');
}

/** Text or blocks. */
export function queuedPromptOf(record: JsonObject): JsonValue | undefined {
  const attachment = objectField(record, 'attachment');
  if (record['type'] !== 'attachment' || attachment['type'] !== 'queued_command') return undefined;
  const { prompt } = attachment;
  return typeof prompt === 'string' || Array.isArray(prompt) ? prompt : undefined;
}

/** The texts of a prompt, used to find it again; empty for other records. */
export function promptTextsOf(record: JsonObject): string[] {
  const content = queuedPromptOf(record) ?? (record['type'] === 'user' ? contentOf(record) : undefined);
  if (typeof content === 'string') return [content];
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return blocks.map((block) => textField(block, 'text') ?? '').filter((text) => text !== '');
}

function isOnlyResults(content: JsonValue | undefined): boolean {
  const isResult = (block: JsonValue) => isJsonObject(block) && block['type'] === 'tool_result';
  return Array.isArray(content) && content.length > 0 && content.every(isResult);
}

function isFailedAnswer(record: JsonObject): boolean {
  if (record['isApiErrorMessage'] === true) return true;
  const message = objectField(record, 'message');
  const [first] = listField(message, 'content');
  const text = isJsonObject(first) ? textField(first, 'text') : undefined;
  return message['model'] === '<synthetic>' && text !== undefined && text.startsWith('API Error');
}
