/** Collects chunks of OpenAI Chat Completions, or of a compatible server, into one completion. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { type ResponseStream, type StreamedText, streamedText } from './response-stream.js';

/** Text fields of a delta, which are concatenated. */
const TEXTS = ['content', 'refusal', 'reasoning_content', 'reasoning'];

export class OpenAiChatStream implements ResponseStream {
  readonly #envelope: JsonObject = { object: 'chat.completion' };
  readonly #message: JsonObject = { role: 'assistant', content: null };
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();
  #finishReason: JsonValue = null;

  get isFinished(): boolean {
    return this.#finishReason !== null;
  }

  add(chunk: JsonObject): void {
    for (const field of ['id', 'model']) {
      if (typeof chunk[field] === 'string' && chunk[field] !== '') this.#envelope[field] = chunk[field];
    }
    const choice = choiceIn(chunk);
    if (!choice) return;
    if (isJsonObject(choice['delta'])) this.#addDelta(choice['delta']);
    this.#finishReason = choice['finish_reason'] ?? this.#finishReason;
  }

  textIn(chunk: JsonObject): StreamedText {
    const delta = choiceIn(chunk)?.['delta'];
    if (!isJsonObject(delta)) return {};
    const { content, refusal, reasoning_content, reasoning } = delta;
    return streamedText(content || refusal, reasoning_content || reasoning);
  }

  #addDelta(delta: JsonObject): void {
    for (const field of TEXTS) {
      const text = delta[field];
      if (typeof text === 'string') this.#message[field] = `${this.#message[field] ?? ''}${text}`;
    }
    const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'].filter(isJsonObject) : [];
    for (const call of calls) this.#addCall(call);
  }

  /** Some servers send a call whole, without an index: then an id starts a new call. */
  #addCall(call: JsonObject): void {
    const last = this.#calls.size - 1;
    const begins = typeof call['id'] === 'string' && call['id'] !== '' && last >= 0;
    const index = typeof call['index'] === 'number' ? call['index'] : begins ? last + 1 : Math.max(last, 0);
    const known = this.#calls.get(index) ?? { id: '', name: '', arguments: '' };
    this.#calls.set(index, known);
    if (typeof call['id'] === 'string' && call['id'] !== '') known.id = call['id'];
    const { name, arguments: args } = isJsonObject(call['function']) ? call['function'] : {};
    if (typeof name === 'string' && name !== '' && name !== known.name) known.name += name;
    if (typeof args === 'string') known.arguments += args;
    else if (isJsonObject(args)) known.arguments = JSON.stringify(args);
  }

  response(): JsonObject {
    const calls = [...this.#calls]
      .sort(([a], [b]) => a - b)
      .map(([, { id, ...fn }]) => ({ id, type: 'function', function: fn }));
    const message = { ...this.#message, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    return { ...this.#envelope, choices: [{ index: 0, message, finish_reason: this.#finishReason }] };
  }
}

function choiceIn(chunk: JsonObject): JsonObject | undefined {
  const choices = Array.isArray(chunk['choices']) ? chunk['choices'].filter(isJsonObject) : [];
  return choices.find(({ index }) => (index ?? 0) === 0);
}
