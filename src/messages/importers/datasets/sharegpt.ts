/** ShareGPT datasets: `conversations` of `from` and `value`, in a list, alone, or one a line. The first one is read. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { tryParseJsonKeepingDigits } from '../../../core/json-digits.js';
import type { Message, MessageRole, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { ConversationOutline, memberNode } from '../reading/conversation-outline.js';
import { readJsonLines } from '../reading/json-lines.js';
import { keepMessage } from '../reading/keep-message.js';
import { argumentsFrom, OpenCalls } from '../reading/open-calls.js';
import { idText, listField, textField } from '../reading/record-fields.js';
import { hasRecordPerLine } from '../reading/source-shape.js';
import type { TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';

const ROLES: ReadonlyMap<JsonValue | undefined, MessageRole> = new Map<JsonValue | undefined, MessageRole>([
  ['system', 'system'],
  ['human', 'user'],
  ['user', 'user'],
  ['gpt', 'assistant'],
  ['chatgpt', 'assistant'],
  ['assistant', 'assistant'],
  ['bing', 'assistant'],
  ['bard', 'assistant'],
  ['model', 'assistant'],
]);
const RESULTS: ReadonlySet<JsonValue | undefined> = new Set([
  ...['observation', 'tool', 'function_response', 'function'],
]);

export const shareGptImporter: TranscriptImporter = {
  format: 'sharegpt',
  title: 'ShareGPT conversations',
  lookedFor: '`conversations` of members with `from` and `value`',
  recognises: ({ shape, items, fields }) => {
    if (shape === 'object') return isConversation(fields);
    return (shape === 'array' || shape === 'lines') && items.some(isConversation);
  },
  read,
};

function isConversation(json: JsonValue): boolean {
  if (!isJsonObject(json)) return false;
  const [first] = listField(json, 'conversations');
  return isJsonObject(first) && typeof first['from'] === 'string' && 'value' in first;
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const reader = new ShareGptReader(losses);
  const messages = (await hasRecordPerLine(source))
    ? fromLines(source, losses, reader)
    : fromDocument(source, losses, reader);
  for await (const message of messages) {
    keepMessage(message, losses);
    yield { kind: 'message', message };
  }
}

async function* fromDocument(source: TranscriptSource, losses: LossAccount, reader: ShareGptReader) {
  const layout = { messages: 'conversations', setting: 'system', nodeOf: memberNode };
  const outline = await ConversationOutline.of(source, layout, losses);
  yield* reader.system(outline.setting);
  for await (const { json, place } of outline.messages(source)) yield* reader.read(json, place);
}

async function* fromLines(source: TranscriptSource, losses: LossAccount, reader: ShareGptReader) {
  let hasConversation = false;
  for await (const { value, line } of readJsonLines(source.chunks(), losses)) {
    const members = listField(value, 'conversations');
    if (hasConversation) losses.drop('another conversation', `line ${line}`);
    else if (members.length === 0) losses.drop('a conversation without messages', `line ${line}`);
    else {
      hasConversation = true;
      yield* reader.system(value['system']);
      for (const [index, member] of members.entries())
        yield* reader.read(isJsonObject(member) ? member : {}, `line ${line}/${index}`);
    }
  }
}

class ShareGptReader {
  readonly #losses: LossAccount;
  readonly #calls = new OpenCalls();
  /** Ids of calls without a result, oldest first. The format has none. */
  #open: string[] = [];
  #made = 0;

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  *system(given: JsonValue | undefined): Generator<Message> {
    if (typeof given === 'string' && given.trim() !== '') yield { role: 'system', content: given };
  }

  *read({ from, value, ...rest }: JsonObject, place: string): Generator<Message> {
    const content = typeof value === 'string' ? value : null;
    const role = ROLES.get(from);
    if (Object.keys(rest).length > 0) this.#losses.drop('a field without a place here', place);
    if (content === null) this.#losses.drop('a member that is not a message', place);
    else if (from === 'function_call' || from === 'tool_call') yield this.#call(content, place);
    else if (RESULTS.has(from)) yield this.#result(content);
    else if (role !== undefined) yield { role, content };
    else this.#losses.drop('a message of an unknown role', place);
  }

  /** One call, or a list of them, as JSON. */
  #call(text: string, place: string): Message {
    const parsed = tryParseJsonKeepingDigits(text);
    const calls = (Array.isArray(parsed) ? parsed : [parsed]).filter(isCall);
    if (calls.length === 0) {
      this.#losses.approximate('a tool call that is not JSON, as text', place);
      return { role: 'assistant', content: text };
    }
    const toolCalls = calls.map((call): ToolCallSpec => {
      this.#made += 1;
      const id = `call_${this.#made}`;
      this.#open.push(id);
      return { id, name: idText(call['name']), ...argumentsFrom(call['arguments'] ?? call['parameters']) };
    });
    const message: Message = { role: 'assistant', content: null, toolPayload: { toolCalls } };
    this.#calls.called(message);
    return message;
  }

  #result(text: string): Message {
    const toolCallId = this.#open.shift() ?? '';
    const toolName = this.#calls.answered(toolCallId);
    return {
      role: 'tool',
      content: null,
      toolPayload: { toolCallId, toolName, toolResult: text, toolError: null },
    };
  }
}

function isCall(json: JsonValue | undefined): json is JsonObject {
  return isJsonObject(json) && textField(json, 'name') !== undefined;
}
