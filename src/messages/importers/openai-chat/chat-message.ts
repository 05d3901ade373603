/** One message of OpenAI's Chat Completions, as written by requests, logs, datasets and compatible servers. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type {
  ContentPart,
  Message,
  MessageRole,
  ProviderItem,
  ReasoningItem,
  ToolCallSpec,
} from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf } from '../reading/content-parts.js';
import { argumentsFrom, OpenCalls } from '../reading/open-calls.js';
import {
  idText,
  isAbsent,
  listField,
  objectField,
  signatureField,
  textField,
} from '../reading/record-fields.js';
import { withoutMarks } from '../rekindle/marks.js';
import { isNeutralMessage, neutralMessageFrom } from '../rekindle/neutral-message.js';
import { chatPartsOf } from './chat-parts.js';

const FIELDS = new Set([
  ...['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'function_call', 'refusal', 'audio'],
  ...['reasoning_content', 'reasoning', 'thinking_blocks'],
]);

/** Remembers open calls, so that their results get a tool name. */
export class ChatReader {
  readonly #calls = new OpenCalls();
  readonly #losses: LossAccount;
  /** Number of ids made for calls in the old form, which have none. */
  #made = 0;

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  /** Null for anything but a message. */
  read(json: JsonValue | undefined, place: string): Message | null {
    const message = isJsonObject(json) ? this.#read(json, place) : null;
    if (!message) this.#losses.unreadable('a member that is not a message', place);
    else this.#calls.called(message);
    return message;
  }

  #read(json: JsonObject, place: string): Message | null {
    if (isNeutralMessage(json)) return withoutMarks(neutralMessageFrom(json), place, this.#losses);
    const role = textField(json, 'role');
    if (role === undefined) return null;
    this.#dropUnknown(json, place);
    if (role === 'assistant') return this.#assistant(json, place);
    if (role === 'tool' || role === 'function') return this.#result(json, role, place);
    return this.#said(json, role, place);
  }

  #said(json: JsonObject, role: string, place: string): Message | null {
    const items: ProviderItem[] = [];
    const said = {
      ...contentOf(chatPartsOf(json['content'], place, this.#losses, items)),
      ...(items.length > 0 ? { providerItems: items } : {}),
    };
    if (!isAbsent(json['name'])) this.#losses.drop('the name of a speaker', place);
    if (role === 'developer') return { role: 'system', ...said };
    if (role === 'system' || role === 'user') return { role, ...said };
    if (said.content === null && !said.parts && !said.providerItems) return null;
    this.#losses.approximate('a role of another kind', place);
    return { role: role as MessageRole, ...said };
  }

  #assistant(json: JsonObject, place: string): Message {
    const items: ProviderItem[] = [];
    const parts = [
      ...thoughtsOf(json).map((reasoning): ContentPart => ({ type: 'reasoning', reasoning })),
      ...chatPartsOf(json['content'], place, this.#losses, items),
      ...this.#refusalAndAudio(json, place),
    ];
    const reasoningContent = textField(json, 'reasoning_content', 'reasoning') ?? '';
    const toolCalls = this.#callsOf(json, place);
    return {
      role: 'assistant',
      ...assistantContentOf(parts),
      ...(reasoningContent === '' ? {} : { reasoningContent }),
      ...(toolCalls ? { toolPayload: { toolCalls } } : {}),
      ...(items.length > 0 ? { providerItems: items } : {}),
    };
  }

  #refusalAndAudio(json: JsonObject, place: string): ContentPart[] {
    const refusal = textField(json, 'refusal');
    const { transcript } = objectField(json, 'audio');
    const parts: ContentPart[] = [];
    if (refusal !== undefined) {
      this.#losses.approximate('a refusal, as text', place);
      parts.push({ type: 'text', text: refusal });
    }
    if (typeof transcript === 'string') {
      this.#losses.approximate('a spoken answer, as its transcript', place);
      parts.push({ type: 'text', text: transcript });
    } else if (isJsonObject(json['audio'])) this.#losses.drop('a spoken answer', place);
    return parts;
  }

  #callsOf(json: JsonObject, place: string): ToolCallSpec[] | undefined {
    const calls = listField(json, 'tool_calls').flatMap((call, index) =>
      this.#call(call, `${place}/tool_calls/${index}`),
    );
    const old = json['function_call'];
    if (isJsonObject(old)) {
      this.#losses.approximate('a function call without an id', place);
      calls.push({ id: this.#makeId(), name: idText(old['name']), ...argumentsFrom(old['arguments']) });
    }
    return Array.isArray(json['tool_calls']) || calls.length > 0 ? calls : undefined;
  }

  #call(json: JsonValue, place: string): ToolCallSpec[] {
    if (!isJsonObject(json)) {
      this.#losses.unreadable('a tool call that is not an object', place);
      return [];
    }
    if (typeof json['id'] !== 'string') this.#losses.approximate('an id that is not text', place);
    const id = idText(json['id']);
    if (isJsonObject(json['custom'])) {
      this.#losses.approximate('the free text of a custom tool call', place);
      const { name, input } = json['custom'];
      return [{ id, name: idText(name), arguments: { input: input ?? '' } }];
    }
    const called = isJsonObject(json['function']) ? json['function'] : json;
    const signature = signatureField(
      objectField(objectField(json, 'extra_content'), 'google'),
      'thought_signature',
    );
    return [
      {
        id,
        name: idText(called['name']),
        ...argumentsFrom(called['arguments']),
        ...(signature === undefined ? {} : { signature }),
      },
    ];
  }

  #result(json: JsonObject, role: 'tool' | 'function', place: string): Message {
    const given = textField(json, 'name');
    const toolCallId = role === 'tool' ? idText(json['tool_call_id']) : this.#idOfFunction(given ?? '');
    if (role === 'tool' && typeof json['tool_call_id'] !== 'string')
      this.#losses.approximate('an id that is not text', place);
    const called = this.#calls.answered(toolCallId);
    const items: ProviderItem[] = [];
    const parts = chatPartsOf(json['content'], place, this.#losses, items);
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const media = parts.filter((part) => part.type === 'media');
    if (texts.length > 1) this.#losses.approximate('several texts of a result, as one', place);
    const toolResult = texts.length > 0 ? texts.join('') : null;
    return {
      role: 'tool',
      content: null,
      toolPayload: { toolCallId, toolName: given ?? called, toolResult, toolError: null },
      ...(media.length > 0 ? { parts: media } : {}),
      ...(items.length > 0 ? { providerItems: items } : {}),
    };
  }

  /** The old form names only the function: the result belongs to its newest open call. */
  #idOfFunction(name: string): string {
    return this.#calls.newestOf(name) ?? this.#makeId();
  }

  #makeId(): string {
    this.#made += 1;
    return `function_call_${this.#made}`;
  }

  #dropUnknown(json: JsonObject, place: string): void {
    for (const [key, value] of Object.entries(json)) {
      const isEmpty = isAbsent(value) || value === '' || (Array.isArray(value) && value.length === 0);
      if (!FIELDS.has(key) && !isEmpty)
        this.#losses.drop('a field without a place here', `${place}/${key.slice(0, 40)}`);
    }
  }
}

/** Signed thinking of Anthropic models, as proxies with this API pass it on. */
function thoughtsOf(json: JsonObject): ReasoningItem[] {
  const origin = { provider: 'anthropic' };
  return listField(json, 'thinking_blocks')
    .filter(isJsonObject)
    .map((block) => {
      const encrypted = textField(block, 'data');
      const signature = signatureField(block, 'signature');
      if (encrypted !== undefined) return { text: null, encrypted, redacted: true, origin };
      return {
        text: textField(block, 'thinking') ?? null,
        ...(signature === undefined ? {} : { signature }),
        origin,
      };
    });
}
