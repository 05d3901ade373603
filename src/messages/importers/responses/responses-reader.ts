/** Items of OpenAI's Responses API, from its input and its output, and whole responses. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Message, Origin } from '../../message.js';
import type { EntryReader } from '../entries/entry-reader.js';
import type { LossAccount } from '../loss-account.js';
import { AgentsConversation } from '../openai-agents/agents-conversation.js';
import { identityOf } from '../openai-agents/agents-item.js';
import { keepMessage } from '../reading/keep-message.js';
import { listField, textField } from '../reading/record-fields.js';
import type { TranscriptItem } from '../transcript.js';

export class ResponsesReader implements EntryReader {
  readonly #losses: LossAccount;
  readonly #responses = new Map<string, string | undefined>();
  readonly #conversation: AgentsConversation;
  readonly #origin: Origin;

  constructor(losses: LossAccount, origin: Origin = { provider: 'openai' }) {
    this.#losses = losses;
    this.#origin = origin;
    this.#conversation = new AgentsConversation(this.#responses, losses);
    this.#conversation.origin = origin;
  }

  *read(entry: JsonValue, place: string): Generator<TranscriptItem> {
    if (!isJsonObject(entry)) this.#losses.unreadable('an item that is not an object', place);
    else if (Array.isArray(entry['output']) && entry['object'] === 'response')
      yield* this.#response(entry, place);
    else yield* this.#items(this.#conversation.add(entry, place));
  }

  end(): Iterable<TranscriptItem> {
    return this.#items(this.#conversation.end());
  }

  *#response(response: JsonObject, place: string): Generator<TranscriptItem> {
    yield* this.end();
    const output = listField(response, 'output');
    const [first] = output;
    if (isJsonObject(first)) this.#responses.set(identityOf(first), textField(response, 'id'));
    const model = textField(response, 'model');
    this.#conversation.origin = { ...this.#origin, ...(model === undefined ? {} : { model }) };
    for (const [index, item] of output.entries()) yield* this.read(item, `${place}/output/${index}`);
    yield* this.end();
    this.#conversation.origin = this.#origin;
  }

  *#items(messages: Iterable<Message>): Generator<TranscriptItem> {
    for (const message of messages) {
      keepMessage(message, this.#losses);
      yield { kind: 'message', message };
    }
  }
}
