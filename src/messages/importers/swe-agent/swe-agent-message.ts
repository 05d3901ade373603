/**
 * Reads the entries of SWE-agent's histories. They are chat messages with additional fields. `thought` and `action`
 * only repeat the content, as SWE-agent's parser split it.
 */
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../../../core/json.js';
import type { Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { ChatReader } from '../openai-chat/chat-message.js';
import {
  idText,
  isAbsent,
  listField,
  objectField,
  originOfModel,
  textField,
} from '../reading/record-fields.js';
import type { TranscriptItem } from '../transcript.js';

const CHAT_FIELDS = [
  'role',
  'content',
  'tool_calls',
  'thinking_blocks',
  'reasoning_content',
  'function_call',
].concat(['refusal', 'audio', 'tool_call_id', 'name']);
/** Fields that are read here, or mean nothing to a model. */
const OWN_FIELDS = ['agent', 'message_type', 'thought', 'action', 'is_demo', 'tool_call_ids', 'extra'].concat(
  ['timestamp', 'cache_control', 'tags'],
);
const KNOWN_FIELDS: ReadonlySet<string> = new Set([...CHAT_FIELDS, ...OWN_FIELDS]);

export class SweAgentReader {
  readonly #losses: LossAccount;
  readonly #model: string | undefined;
  readonly #chat: ChatReader;
  /** The first agent in the history. It was not shown the messages of other agents. */
  #agent: string | undefined;

  constructor(model: string | undefined, losses: LossAccount) {
    this.#model = model;
    this.#losses = losses;
    this.#chat = new ChatReader(losses);
  }

  /** Null for an entry that is not carried over; it is counted as a loss. */
  read(json: JsonValue, place: string): Extract<TranscriptItem, { kind: 'message' }> | null {
    if (isJsonObject(json)) return this.#read(json, place);
    this.#losses.drop('a member that is not a message', place);
    return null;
  }

  #read(json: JsonObject, place: string) {
    const reason = this.#reasonToDrop(json);
    if (reason !== null) {
      this.#losses.drop(reason, place);
      return null;
    }
    this.#account(json, place);
    const message = this.#chat.read(this.#chatFields(json, place), place);
    if (!message) return null;
    const timestamp = json['timestamp'] ?? objectField(json, 'extra')['timestamp'];
    const ts = typeof timestamp === 'number' && Number.isFinite(timestamp) ? { ts: timestamp } : {};
    return { kind: 'message' as const, message: this.#withOrigin(message, json), ...ts };
  }

  #reasonToDrop(json: JsonObject): string | null {
    if (json['role'] === 'exit') return 'how the run ended';
    const agent = textField(json, 'agent');
    this.#agent ??= agent;
    return agent === undefined || agent === this.#agent ? null : 'a message of another agent';
  }

  #account(json: JsonObject, place: string): void {
    // The model was shown the demonstration as part of its history, so it is kept.
    if (json['is_demo'] === true)
      this.#losses.approximate('a demonstration, as a message like the others', place);
    if (Object.keys(objectField(json, 'extra')).length > 0)
      this.#losses.drop('what the run noted beside a message', place);
    for (const [key, value] of Object.entries(json))
      if (!KNOWN_FIELDS.has(key) && !isAbsent(value))
        this.#losses.drop('a field without a place here', `${place}/${key.slice(0, 40)}`);
  }

  #chatFields(json: JsonObject, place: string): JsonObject {
    const fields: JsonObject = {};
    for (const key of CHAT_FIELDS) if (!isAbsent(json[key])) setOwn(fields, key, json[key]!);
    const ids = listField(json, 'tool_call_ids');
    if (json['role'] === 'tool' && ids.length > 0) fields['tool_call_id'] = idText(ids[0]);
    if (ids.length > 1) this.#losses.approximate('one result for several calls, as that of the first', place);
    const said = isAbsent(json['content']) ? saidOf(json) : undefined;
    if (said !== undefined) {
      this.#losses.approximate('a thought and an action, as one text', place);
      fields['content'] = said;
    }
    return fields;
  }

  #withOrigin(message: Message, json: JsonObject): Message {
    if (message.role !== 'assistant') return message;
    const response = objectField(objectField(json, 'extra'), 'response');
    const messageId = textField(response, 'id');
    return {
      ...message,
      ...originOfModel(textField(response, 'model') ?? this.#model),
      ...(messageId === undefined ? {} : { messageId }),
    };
  }
}

/** The model's text, joined from its two halves; undefined if there are none. */
export function saidOf(json: JsonObject): string | undefined {
  const thought = textField(json, 'thought');
  const action = textField(json, 'action');
  if (action === undefined || action === '') return thought;
  const command = `\`\`\`\n${action.replace(/\n$/, '')}\n\`\`\``;
  return thought === undefined ? command : `${thought.replace(/\n$/, '')}\n${command}`;
}
