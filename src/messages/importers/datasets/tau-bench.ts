/**
 * Results of tau-bench (a list of runs with a `traj`) and of tau2-bench (`simulations`, or a simulation of its own). The
 * first run with messages is read. What the simulated user did with tools of its own is not part of it: the agent was not
 * shown it.
 */
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../../../core/json.js';
import type { Message } from '../../message.js';
import { headOf } from '../detect-format.js';
import type { LossAccount } from '../loss-account.js';
import { ChatReader } from '../openai-chat/chat-message.js';
import { ConversationOutline, memberNode } from '../reading/conversation-outline.js';
import { keepMessage } from '../reading/keep-message.js';
import { isAbsent, listField, objectField, originOfModel, textField } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';

/** What a run records next to the content of a message. */
const NOTES = ['turn_idx', 'timestamp', 'cost', 'usage', 'raw_data', 'generation_time_seconds'];

export const tauBenchImporter: TranscriptImporter = {
  format: 'tau-bench',
  title: 'tau-bench and tau2-bench results',
  lookedFor: 'runs with `task_id` and `traj`, or `simulations` with `task_id` and `messages`',
  recognises: (head) => layoutOf(head) !== null,
  read,
};

function layoutOf({ shape, items, keys, fields }: TranscriptHead) {
  const isRun = (key: string) => (run: JsonValue) =>
    isJsonObject(run) && 'task_id' in run && Array.isArray(run[key]);
  if (shape === 'array') return items.some(isRun('traj')) ? { messages: 'traj' } : null;
  if (shape !== 'object') return null;
  if (listField(fields, 'simulations').some(isRun('messages')))
    return { messages: 'messages', wrapper: 'simulations' };
  const isSimulation = ['task_id', 'termination_reason', 'messages'].every((key) => keys.has(key));
  return isSimulation ? { messages: 'messages' } : null;
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const head = await headOf(source);
  const layout = (head && layoutOf(head)) ?? { messages: 'messages' };
  const outline = await ConversationOutline.of(source, { ...layout, nodeOf: memberNode }, losses);
  const reader = new TauBenchReader(losses);
  for await (const { json, place } of outline.messages(source))
    for (const message of reader.read(json, place)) {
      keepMessage(message, losses);
      yield { kind: 'message', message };
    }
}

class TauBenchReader {
  readonly #losses: LossAccount;
  readonly #chat: ChatReader;

  constructor(losses: LossAccount) {
    this.#losses = losses;
    this.#chat = new ChatReader(losses);
  }

  *read(json: JsonObject, place: string): Generator<Message> {
    const results = listField(json, 'tool_messages').filter(isJsonObject);
    for (const record of results.length > 0 ? results : [json]) {
      const message = this.#read(record, place);
      if (message) yield message;
    }
  }

  #read(json: JsonObject, place: string): Message | null {
    const { role } = json;
    if (role === 'tool' && json['requestor'] === 'user') {
      this.#losses.drop('a result for the simulated user', place);
      return null;
    }
    if (role === 'user' && listField(json, 'tool_calls').length > 0) {
      this.#losses.drop('a tool call of the simulated user', place);
      if (isAbsent(json['content'])) return null;
    }
    if (NOTES.some((key) => !isAbsent(json[key])))
      this.#losses.drop('what the run recorded about a message', place);
    const message = this.#chat.read(chatMessageOf(json), place);
    return message && withOutcome(message, json);
  }
}

/** tau2 has the id of a call in the field `id` of its result, and calls without a field `function`. */
function chatMessageOf(json: JsonObject): JsonObject {
  const chat: JsonObject = {};
  for (const [key, value] of Object.entries(json)) {
    const isNote = NOTES.includes(key) || key === 'requestor' || key === 'error' || key === 'id';
    const isOfUser = json['role'] === 'user' && key === 'tool_calls';
    if (!isNote && !isOfUser && !isAbsent(value)) setOwn(chat, key, value);
  }
  if (Array.isArray(chat['tool_calls'])) chat['tool_calls'] = chat['tool_calls'].map(chatCallOf);
  if (json['role'] !== 'tool') return chat;
  return { ...chat, tool_call_id: json['tool_call_id'] ?? json['id'] ?? null };
}

function chatCallOf(call: JsonValue): JsonValue {
  if (!isJsonObject(call) || isJsonObject(call['function'])) return call;
  const { name = '', arguments: given = {} } = call;
  return { id: call['id'] ?? '', type: 'function', function: { name, arguments: given } };
}

function withOutcome(message: Message, json: JsonObject): Message {
  const payload = message.toolPayload;
  if (json['error'] === true && payload && 'toolCallId' in payload) {
    const { toolResult } = payload;
    const toolError =
      typeof toolResult === 'string' && toolResult.trim() !== '' ? toolResult : 'The tool failed.';
    return { ...message, toolPayload: { ...payload, toolResult: null, toolError } };
  }
  if (message.role !== 'assistant') return message;
  return { ...message, ...originOfModel(textField(objectField(json, 'raw_data'), 'model')) };
}
