/** Members of a list of chat messages: OpenAI or AutoGen messages, completions, or whole conversations. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { isAbsent, listField, objectField, originOfModel, textField } from '../reading/record-fields.js';
import { autoGenMessagesFrom, isAutoGenMessage } from './autogen-message.js';
import { conversationIn } from './chat-detection.js';
import { ChatReader } from './chat-message.js';

/** Reads messages, or whole conversations. Of several conversations, only the first is read. */
export class MemberReader {
  readonly #losses: LossAccount;
  readonly #chat: ChatReader;
  #hasConversation = false;

  constructor(losses: LossAccount) {
    this.#losses = losses;
    this.#chat = new ChatReader(losses);
  }

  *read(json: JsonValue, place: string): Generator<Message> {
    const conversation = conversationIn(json);
    if (!conversation && isCompletion(json)) yield* this.readCompletion(json, place);
    else if (!conversation) yield* this.#message(json, place);
    else if (this.#hasConversation) this.#losses.drop('another conversation', place);
    else {
      this.#hasConversation = true;
      for (const [index, member] of conversation.entries())
        yield* this.#message(member, `${place}/messages/${index}`);
      yield* this.#answer(json as JsonObject, place);
    }
  }

  /** The answer next to a conversation: its completion, or the preferred one of two. */
  *#answer(json: JsonObject, place: string): Generator<Message> {
    const response = objectField(json, 'response');
    for (const completion of [json, response, objectField(response, 'body')])
      yield* this.readCompletion(completion, place);
    for (const member of listField(json, 'preferred_output')) yield* this.#message(member, place);
    if (!isAbsent(json['non_preferred_output'])) this.#losses.drop('an answer that was not preferred', place);
  }

  *readCompletion(completion: JsonObject, place: string): Generator<Message> {
    const [choice] = listField(completion, 'choices');
    if (!isJsonObject(choice) || !isJsonObject(choice['message'])) return;
    const messageId = textField(completion, 'id');
    for (const message of this.#message(choice['message'], place)) {
      const fromWhom = originOfModel(textField(completion, 'model'));
      yield { ...message, ...fromWhom, ...(messageId === undefined ? {} : { messageId }) };
    }
  }

  *#message(json: JsonValue, place: string): Generator<Message> {
    if (isAutoGenMessage(json)) yield* autoGenMessagesFrom(json, place, this.#losses);
    else {
      const message = this.#chat.read(json, place);
      if (message) yield message;
    }
  }
}

function isCompletion(json: JsonValue): json is JsonObject {
  return isJsonObject(json) && Array.isArray(json['choices']) && !('role' in json);
}
