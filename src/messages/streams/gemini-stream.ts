/** Collects chunks of Gemini's `generateContentStream` into one response. */
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { type ResponseStream, type StreamedText, streamedText } from './response-stream.js';

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
    const candidate = candidateIn(chunk);
    for (const part of partsIn(candidate)) this.#addPart(part);
    const finishReason = candidate?.['finishReason'];
    if (typeof finishReason === 'string') this.#finishReason = finishReason;
  }

  textIn(chunk: JsonObject): StreamedText {
    const parts = partsIn(candidateIn(chunk)).filter(({ text }) => typeof text === 'string');
    const isThought = ({ thought }: JsonObject) => thought === true;
    const joined = (list: readonly JsonObject[]) => list.map(({ text }) => text).join('');
    return streamedText(joined(parts.filter((part) => !isThought(part))), joined(parts.filter(isThought)));
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

function candidateIn(chunk: JsonObject): JsonObject | undefined {
  const candidates = Array.isArray(chunk['candidates']) ? chunk['candidates'] : [];
  return candidates.find(isJsonObject);
}

function partsIn(candidate: JsonObject | undefined): readonly JsonObject[] {
  const content = candidate?.['content'];
  return isJsonObject(content) && Array.isArray(content['parts'])
    ? content['parts'].filter(isJsonObject)
    : [];
}
