/** Collects chunks of Gemini's `generateContentStream` into one response. */
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { ResponseStream } from './response-stream.js';

export class GeminiStream implements ResponseStream {
  readonly #envelope: JsonObject = {};
  readonly #parts: JsonObject[] = [];
  #finishReason: string | null = null;

  get isFinished(): boolean {
    return this.#finishReason !== null;
  }

  add(chunk: JsonObject): void {
    for (const field of ['modelVersion', 'responseId']) {
      if (typeof chunk[field] === 'string') this.#envelope[field] = chunk[field];
    }
    const [candidate] = Array.isArray(chunk['candidates']) ? chunk['candidates'].filter(isJsonObject) : [];
    if (!candidate) return;
    const { content, finishReason } = candidate;
    const parts = isJsonObject(content) && Array.isArray(content['parts']) ? content['parts'] : [];
    for (const part of parts.filter(isJsonObject)) this.#addPart(part);
    if (typeof finishReason === 'string') this.#finishReason = finishReason;
  }

  /** Consecutive texts are joined, unless one of them is signed. */
  #addPart(part: JsonObject): void {
    const last = this.#parts[this.#parts.length - 1];
    if (last && isPlainText(last) && isPlainText(part) && last['thought'] === part['thought'])
      this.#parts[this.#parts.length - 1] = { ...last, text: `${last['text']}${part['text']}` };
    else this.#parts.push(part);
  }

  response(): JsonObject {
    const content = { role: 'model', parts: this.#parts };
    const finishReason = this.#finishReason === null ? {} : { finishReason: this.#finishReason };
    return { ...this.#envelope, candidates: [{ content, ...finishReason }] };
  }
}

function isPlainText(part: JsonObject): boolean {
  return typeof part['text'] === 'string' && part['thoughtSignature'] === undefined;
}
