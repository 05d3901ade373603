/** Collects Anthropic Messages events into one message. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { tryParseJsonKeepingDigits } from '../../core/json-digits.js';
import { type ResponseStream, type StreamedText, streamedText } from './response-stream.js';

interface Block {
  readonly block: JsonObject;
  inputText: string;
}

export class AnthropicStream implements ResponseStream {
  /** The SDK's helper adds the deltas to a block's first event itself, perhaps before the event arrives here. */
  readonly #isHelper: boolean;
  #message: JsonObject = { type: 'message', role: 'assistant' };
  readonly #blocks = new Map<number, Block>();
  #isFinished = false;

  constructor(isHelper: boolean) {
    this.#isHelper = isHelper;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  add(event: JsonObject): void {
    const { type, message, index, content_block: block, delta } = event;
    if (type === 'message_start' && isJsonObject(message)) this.#message = { ...this.#message, ...message };
    else if (type === 'content_block_start' && isJsonObject(block)) this.#begin(Number(index), block);
    else if (type === 'content_block_delta' && isJsonObject(delta)) this.#continue(Number(index), delta);
    else if (type === 'message_delta' && isJsonObject(delta)) {
      this.#message['stop_reason'] = delta['stop_reason'] ?? null;
    } else if (type === 'message_stop') this.#isFinished = true;
  }

  textIn({ type, content_block: block, delta }: JsonObject): StreamedText {
    const added = type === 'content_block_delta' ? delta : this.#isHelper ? null : block;
    return isJsonObject(added) ? streamedText(added['text'], added['thinking']) : {};
  }

  #begin(index: number, given: JsonObject): void {
    const block = { ...given };
    for (const field of ['text', 'thinking', 'signature']) {
      if (this.#isHelper && typeof block[field] === 'string') block[field] = '';
    }
    this.#blocks.set(index, { block, inputText: '' });
  }

  #continue(index: number, delta: JsonObject): void {
    const known = this.#blocks.get(index);
    if (!known) return;
    for (const field of ['text', 'thinking', 'signature']) {
      if (typeof delta[field] === 'string') known.block[field] = `${known.block[field] ?? ''}${delta[field]}`;
    }
    if (typeof delta['partial_json'] === 'string') known.inputText += delta['partial_json'];
  }

  response(): JsonObject {
    const content = [...this.#blocks].sort(([a], [b]) => a - b).map(([, block]) => finished(block));
    return { stop_reason: null, ...this.#message, content };
  }
}

/** Input that is not JSON stays the model's text. */
function finished({ block, inputText }: Block): JsonObject {
  if (inputText === '') return block;
  const input: JsonValue = tryParseJsonKeepingDigits(inputText) ?? inputText;
  return { ...block, input };
}
