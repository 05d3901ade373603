/** Collects OpenAI Responses events into one response. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { type ResponseStream, type StreamedText, streamedText } from './response-stream.js';

const REASONING_DELTA = /^response\.reasoning(_summary)?_text\.delta$/;

export class OpenAiResponsesStream implements ResponseStream {
  #response: JsonObject = { object: 'response', output: [] };
  #isFinished = false;
  readonly #items = new Map<number, JsonObject>();
  /** Texts of incomplete items. */
  readonly #texts = new Map<number, string>();

  get isFinished(): boolean {
    return this.#isFinished;
  }

  add(event: JsonObject): void {
    const { type, response, item, delta } = event;
    if (isJsonObject(response)) this.#response = { ...this.#response, ...response };
    if (type === 'response.completed' || type === 'response.incomplete') this.#isFinished = true;
    const index = typeof event['output_index'] === 'number' ? event['output_index'] : this.#items.size;
    if (type === 'response.output_item.done' && isJsonObject(item)) {
      this.#items.set(index, item);
      this.#texts.delete(index);
    }
    if (isTextDelta(type) && typeof delta === 'string')
      this.#texts.set(index, (this.#texts.get(index) ?? '') + delta);
  }

  textIn({ type, delta }: JsonObject): StreamedText {
    if (isTextDelta(type)) return streamedText(delta);
    return REASONING_DELTA.test(String(type)) ? streamedText(undefined, delta) : {};
  }

  response(): JsonObject {
    const { output } = this.#response;
    if (this.#isFinished && Array.isArray(output) && output.length > 0) return this.#response;
    const partial = [...this.#texts].map(([index, text]): [number, JsonObject] => [
      index,
      { type: 'message', role: 'assistant', status: 'incomplete', content: [{ type: 'output_text', text }] },
    ]);
    const items = [...this.#items, ...partial].sort(([a], [b]) => a - b).map(([, item]) => item);
    return { ...this.#response, output: items };
  }
}

function isTextDelta(type: JsonValue | undefined): boolean {
  return type === 'response.output_text.delta' || type === 'response.refusal.delta';
}
