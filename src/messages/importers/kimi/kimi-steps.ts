/** Steps of Kimi Code as messages: an answer ends with its step, or with the first result of its calls. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Message, Origin, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf, mediaPartOf } from '../reading/content-parts.js';
import { argumentsFrom, OpenCalls } from '../reading/open-calls.js';
import { idText, listField, objectField, textField } from '../reading/record-fields.js';

const SILENT_FAILURE = 'The tool failed without a message.';
/** A larger answer cannot be genuine. */
const ANSWER_MAX = 4096;

export class KimiSteps {
  readonly #losses: LossAccount;
  readonly #open = new OpenCalls();
  #parts: ContentPart[] = [];
  #calls: ToolCallSpec[] = [];
  /** The model of the answers that follow. */
  model: string | undefined;

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  /** The messages that are complete after the event. */
  *read(event: JsonObject, place: string): Generator<Message> {
    switch (event['type']) {
      case 'step.begin':
      case 'step.end':
        yield* this.end();
        return;
      case 'content.part':
        this.#parts.push(...this.#partOf(objectField(event, 'part'), place));
        break;
      case 'tool.call':
        this.#calls.push(callOf(event));
        break;
      case 'tool.result':
        yield* this.end();
        yield this.#resultOf(event, place);
        return;
      default:
        this.#losses.drop('event of an unknown type', place);
    }
    if (this.#parts.length + this.#calls.length > ANSWER_MAX) yield* this.end();
  }

  *end(): Generator<Message> {
    if (this.#parts.length + this.#calls.length === 0) return;
    const toolCalls = this.#calls;
    const message: Message = {
      role: 'assistant',
      ...assistantContentOf(this.#parts),
      ...(toolCalls.length > 0 ? { toolPayload: { toolCalls } } : {}),
      ...this.#from(),
    };
    [this.#parts, this.#calls] = [[], []];
    this.#open.called(message);
    yield message;
  }

  /** An answer or a result that was put into the context whole. */
  *message(json: JsonObject, place: string): Generator<Message> {
    if (json['role'] === 'tool') {
      yield this.#resultOf({ ...json, result: { output: json['content'] ?? '' } }, place);
      return;
    }
    this.#parts.push(...this.#partsOf(json['content'], place));
    this.#calls.push(...listField(json, 'toolCalls').filter(isJsonObject).map(callOf));
    yield* this.end();
  }

  userMessage(content: JsonValue | undefined, place: string): Message {
    return { role: 'user', ...contentOf(this.#partsOf(content, place)) };
  }

  #from(): { readonly origin?: Origin } {
    return this.model === undefined ? {} : { origin: { provider: 'moonshot', model: this.model } };
  }

  #partsOf(content: JsonValue | undefined, place: string): ContentPart[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    const parts = Array.isArray(content) ? content : [];
    return parts.flatMap((part) => this.#partOf(isJsonObject(part) ? part : {}, place));
  }

  #partOf(part: JsonObject, place: string): ContentPart[] {
    const text = textField(part, 'text');
    if (part['type'] === 'text' && text !== undefined) return [{ type: 'text', text }];
    if (part['type'] === 'think') {
      const encrypted = textField(part, 'encrypted');
      const reasoning = {
        text: textField(part, 'think') ?? null,
        ...(encrypted === undefined ? {} : { encrypted }),
        ...this.#from(),
      };
      return [{ type: 'reasoning', reasoning }];
    }
    const url = textField(objectField(part, 'image_url', 'imageUrl'), 'url');
    if (url !== undefined) return [mediaPartOf(url, { kind: 'image' })];
    this.#losses.drop('content of an unknown kind', place);
    return [];
  }

  #resultOf(event: JsonObject, place: string): Message {
    const toolCallId = idText(event['toolCallId'] ?? event['parentUuid']);
    const { output, isError } = objectField(event, 'result');
    const parts = this.#partsOf(output, place);
    const media = parts.filter((part) => part.type === 'media');
    const text = parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
    const failed = isError === true;
    return {
      role: 'tool',
      content: null,
      ...(media.length > 0 ? { parts: media } : {}),
      toolPayload: {
        toolCallId,
        toolName: this.#open.answered(toolCallId),
        toolResult: failed ? null : text,
        toolError: failed ? (text.trim() === '' ? SILENT_FAILURE : text) : null,
      },
    };
  }
}

/** Calls of events have `args`; calls of whole messages have a function with the arguments as text. */
function callOf(call: JsonObject): ToolCallSpec {
  const called = objectField(call, 'function');
  return {
    id: idText(call['toolCallId'] ?? call['id']),
    name: textField(call, 'name') ?? textField(called, 'name') ?? '',
    ...argumentsFrom(call['args'] ?? call['arguments'] ?? called['arguments']),
  };
}
