/** Sessions of Continue: chat messages, each with its context and the states of its calls, which hold the results. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { type Message, type ReasoningItem, toolCallsOf } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { ChatReader } from '../openai-chat/chat-message.js';
import { keptItem } from '../reading/kept-item.js';
import { membersOf } from '../reading/list-members.js';
import { idText, listField, objectField, signatureField, textField } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';

export const continueImporter: TranscriptImporter = {
  format: 'continue',
  title: 'Continue session',
  lookedFor: 'a document with `sessionId` and `history` of {message, contextItems}',
  recognises,
  async *read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
    const session = new ContinueSession(losses);
    for await (const { value, place } of membersOf(source, ['history'], losses))
      if (!isJsonObject(value)) losses.drop('record that is not a message', place);
      else for (const message of session.read(value, place)) yield keptItem(message, losses);
    for (const message of session.end()) yield keptItem(message, losses);
  },
};

function recognises({ shape, keys, fields }: TranscriptHead): boolean {
  const [first] = listField(fields, 'history');
  if (shape !== 'object' || !keys.has('sessionId') || !isJsonObject(first)) return false;
  return isJsonObject(first['message']) && Array.isArray(first['contextItems']);
}

const STOPPED: ReadonlySet<JsonValue | undefined> = new Set(['errored', 'canceled', 'cancelled']);

class ContinueSession {
  readonly #losses: LossAccount;
  readonly #chat: ChatReader;
  /** Belong to the answer after them. */
  #thoughts: ReasoningItem[] = [];

  constructor(losses: LossAccount) {
    this.#losses = losses;
    this.#chat = new ChatReader(losses);
  }

  *read(record: JsonObject, place: string): Generator<Message> {
    const given = objectField(record, 'message');
    if (given['role'] === 'thinking') {
      this.#thoughts.push(thoughtOf(given));
      return;
    }
    const message = this.#chat.read(this.#chatForm(given, record, place), place);
    if (!message) return;
    if (message.role === 'assistant') yield { ...message, ...this.#takeThoughts() };
    else {
      yield* this.end();
      yield message;
    }
    yield* this.#resultsOf(record, message, place);
  }

  /** Reasoning that no answer followed, because the person stopped it. It does not belong to the next answer. */
  *end(): Generator<Message> {
    if (this.#thoughts.length > 0) yield { role: 'assistant', content: null, ...this.#takeThoughts() };
  }

  #takeThoughts(): Pick<Message, 'reasoning'> {
    const reasoning = this.#thoughts;
    this.#thoughts = [];
    return reasoning.length === 0 ? {} : { reasoning };
  }

  #chatForm(given: JsonObject, record: JsonObject, place: string): JsonObject {
    const { toolCalls, toolCallId, usage, id: _, ...rest } = given;
    if (isJsonObject(usage)) this.#losses.drop('token counts of an answer', place);
    const context = listField(record, 'contextItems').flatMap((item) =>
      isJsonObject(item) ? (textField(item, 'content') ?? []) : [],
    );
    if (context.length > 0) this.#losses.approximate('context of a message, before its text', place);
    const isText = typeof given['content'] === 'string';
    const texts = isText ? [...context, given['content']!] : context;
    const parts = listField(given, 'content').map(chatPart);
    const content: JsonValue = isText
      ? texts.join('\n\n')
      : parts.length + context.length === 0
        ? (given['content'] ?? null)
        : [...context.map((text) => ({ type: 'text', text })), ...parts];
    return {
      ...rest,
      content,
      ...(Array.isArray(toolCalls) && toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
      ...(typeof toolCallId === 'string' ? { tool_call_id: toolCallId } : {}),
    };
  }

  /** Older sessions have the results as messages of their own, and no states with outputs. */
  *#resultsOf(record: JsonObject, message: Message, place: string): Generator<Message> {
    const ids = new Set(toolCallsOf(message).map(({ id }) => id));
    for (const state of listField(record, 'toolCallStates')) {
      if (!isJsonObject(state) || !Array.isArray(state['output'])) continue;
      const id = idText(state['toolCallId']);
      const text = textOfParts(state['output']);
      const failed = STOPPED.has(state['status']);
      if (!ids.has(id)) this.#losses.drop('state of a call that the message does not have', place);
      else if (!failed) yield this.#result(id, text, place);
      else yield asFailed(this.#result(id, text, place), text);
    }
  }

  #result(id: string, content: string, place: string): Message {
    return this.#chat.read({ role: 'tool', tool_call_id: id, content }, place)!;
  }
}

/** Only Claude signs its reasoning. If it is redacted, the text is for display. */
function thoughtOf(given: JsonObject): ReasoningItem {
  const text = textOfParts(given['content']);
  const signature = signatureField(given, 'signature');
  const encrypted = signatureField(given, 'redactedThinking');
  const origin = { provider: 'anthropic' };
  if (encrypted !== undefined) return { text: null, encrypted, redacted: true, origin };
  return signature === undefined ? { text } : { text, signature, origin };
}

/** The API writes the name of an image part with an underscore. */
function chatPart(part: JsonValue): JsonValue {
  if (!isJsonObject(part) || part['type'] !== 'imageUrl') return part;
  return { type: 'image_url', image_url: part['imageUrl'] ?? null };
}

function asFailed(message: Message, text: string): Message {
  const { toolPayload } = message;
  if (!toolPayload || !('toolCallId' in toolPayload)) return message;
  const toolError = text.trim() === '' ? 'The tool failed without a message.' : text;
  return { ...message, toolPayload: { ...toolPayload, toolResult: null, toolError } };
}

/** A text, or the texts of parts or of outputs. */
function textOfParts(given: JsonValue | undefined): string {
  if (typeof given === 'string') return given;
  if (!Array.isArray(given)) return '';
  const texts = given.flatMap((part) =>
    isJsonObject(part) ? (textField(part, 'text', 'content') ?? []) : [],
  );
  return texts.join('\n');
}
