/** Reads the messages of a sample in an Inspect log. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Message, Origin, ToolCallSpec, ToolResultPayload } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf } from '../reading/content-parts.js';
import { argumentsFrom, OpenCalls } from '../reading/open-calls.js';
import {
  idText,
  isAbsent,
  listField,
  objectField,
  originOfModel,
  textField,
} from '../reading/record-fields.js';
import { inspectPartsOf, inspectThoughtOf } from './inspect-parts.js';

export class InspectReader {
  readonly #losses: LossAccount;
  readonly #model: string | undefined;
  readonly #calls = new OpenCalls();

  /** @param model of the run, prefixed with its provider */
  constructor(model: string | undefined, losses: LossAccount) {
    this.#model = model;
    this.#losses = losses;
  }

  /** Null for anything but a message, which is counted as a loss. */
  read(json: JsonValue, place: string): Message | null {
    const message = isJsonObject(json) ? this.#read(json, place) : null;
    if (!message) this.#losses.drop('a member that is not a message', place);
    else this.#calls.called(message);
    return message;
  }

  #read(json: JsonObject, place: string): Message | null {
    switch (json['role']) {
      case 'system':
      case 'user':
        return { role: json['role'], ...contentOf(this.#parts(json, place)) };
      case 'assistant':
        return this.#assistant(json, place);
      case 'tool':
        return this.#result(json, place);
      default:
        return null;
    }
  }

  #parts(json: JsonObject, place: string, origin?: Origin): ContentPart[] {
    return inspectPartsOf(json['content'], { place, losses: this.#losses, origin });
  }

  #assistant(json: JsonObject, place: string): Message {
    const origin = this.#originOf(json);
    const parts = [...thoughtBeside(json, origin), ...this.#parts(json, place, origin)];
    const toolCalls = this.#callsOf(json, place);
    return {
      role: 'assistant',
      ...assistantContentOf(parts),
      ...(toolCalls ? { toolPayload: { toolCalls } } : {}),
      ...(origin === undefined ? {} : { origin }),
      ...(typeof json['id'] === 'string' ? { messageId: json['id'] } : {}),
    };
  }

  #callsOf(json: JsonObject, place: string): ToolCallSpec[] | undefined {
    const calls = listField(json, 'tool_calls').flatMap((call, index) =>
      this.#call(call, `${place}/tool_calls/${index}`),
    );
    return Array.isArray(json['tool_calls']) ? calls : undefined;
  }

  #call(call: JsonValue, place: string): ToolCallSpec[] {
    if (!isJsonObject(call)) {
      this.#losses.drop('a tool call that is not an object', place);
      return [];
    }
    if (!isAbsent(call['parse_error'])) this.#losses.drop('what the parser said about a tool call', place);
    if (!isAbsent(call['view'])) this.#losses.drop('how a tool call is shown', place);
    return [{ id: idText(call['id']), name: idText(call['function']), ...argumentsFrom(call['arguments']) }];
  }

  #result(json: JsonObject, place: string): Message {
    const toolCallId = idText(json['tool_call_id']);
    const called = this.#calls.answered(toolCallId);
    const parts = this.#parts(json, place);
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const media = parts.filter((part) => part.type === 'media');
    if (texts.length > 1) this.#losses.approximate('several texts of a result, as one', place);
    const text = texts.length > 0 ? texts.join('') : null;
    return {
      role: 'tool',
      content: null,
      toolPayload: {
        toolCallId,
        toolName: textField(json, 'function') ?? called,
        ...this.#outcome(json, text, place),
      },
      ...(media.length > 0 ? { parts: media } : {}),
    };
  }

  /** A failed call may have an output next to its error, for example one that was cut off. */
  #outcome(
    json: JsonObject,
    text: string | null,
    place: string,
  ): Pick<ToolResultPayload, 'toolResult' | 'toolError'> {
    if (isAbsent(json['error'])) return { toolResult: text, toolError: null };
    const error = objectField(json, 'error');
    const said = textField(error, 'message') ?? textField(json, 'error') ?? idText(error['type']);
    if (text === null || text.trim() === '' || said.includes(text))
      return { toolResult: null, toolError: said };
    this.#losses.approximate('an error and an output, as one text', place);
    return { toolResult: null, toolError: `${said}\n${text}` };
  }

  #originOf(json: JsonObject): Origin | undefined {
    const model = textField(json, 'model');
    const { origin } = originOfModel(model);
    if (origin || model === undefined) return origin;
    const run = this.#model ?? '';
    const provider = run.endsWith(`/${model}`) ? run.slice(0, run.indexOf('/')) : '';
    return provider === '' ? undefined : { provider, model };
  }
}

/** Older logs store the reasoning next to the content. */
function thoughtBeside(json: JsonObject, origin: Origin | undefined): ContentPart[] {
  if (typeof json['reasoning'] !== 'string') return [];
  return [{ type: 'reasoning', reasoning: inspectThoughtOf(json, origin) }];
}
