/** Reads LangChain messages in each of their forms. */
import type { JsonObject, JsonValue } from '../../../core/json.js';
import type { ContentPart, Message, Origin, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf } from '../reading/content-parts.js';
import { OpenCalls } from '../reading/open-calls.js';
import { idText, isAbsent, objectField, originOfModel, textField } from '../reading/record-fields.js';
import { langChainCallsOf } from './langchain-calls.js';
import { langChainPartsOf } from './langchain-parts.js';
import { type LangChainMessage, langChainMessageOf } from './langchain-shape.js';
import { reasoningOf } from './langchain-thoughts.js';

const FAMILIES: ReadonlyMap<string, string> = new Map([
  ['azure', 'openai'],
  ['azure_openai', 'openai'],
  ['google_genai', 'google'],
  ['google_vertexai', 'google'],
  ['google-genai', 'google'],
  ['google-vertexai', 'google'],
]);

/** Remembers open calls, so that their results get a tool name. */
export class LangChainReader {
  readonly #losses: LossAccount;
  readonly #calls = new OpenCalls();
  /** Number of ids made for calls in the old form, which have none. */
  #made = 0;

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  /** Null for anything but a message, which is counted as a loss. */
  read(json: JsonValue, place: string): Message | null {
    const given = langChainMessageOf(json);
    const message = given && this.#read(given, place);
    if (!message) this.#losses.drop('a member that is not a message', place);
    else this.#calls.called(message);
    return message;
  }

  #read({ kind, fields }: LangChainMessage, place: string): Message | null {
    switch (kind) {
      case 'assistant':
        return this.#assistant(fields, place);
      case 'tool':
      case 'function':
        return this.#result(fields, kind, place);
      case 'user':
      case 'system':
        return this.#said(fields, kind, place);
      case 'other':
        this.#losses.approximate('a role of another kind, as the user', place);
        return this.#said(fields, 'user', place);
      default:
        return null;
    }
  }

  #said(fields: JsonObject, role: 'user' | 'system', place: string): Message {
    if (!isAbsent(fields['name'])) this.#losses.drop('the name of a speaker', place);
    const isSummary = objectField(fields, 'additional_kwargs')['lc_source'] === 'summarization';
    return {
      role,
      ...contentOf(langChainPartsOf(fields['content'], { place, losses: this.#losses })),
      ...(isSummary && role === 'user' ? { kind: 'memory' as const } : {}),
    };
  }

  #assistant(fields: JsonObject, place: string): Message {
    const given = objectField(fields, 'additional_kwargs');
    const origin = originOf(objectField(fields, 'response_metadata'));
    const context = { place, losses: this.#losses, origin };
    const parts = [
      ...thoughtBeside(given, origin),
      ...langChainPartsOf(fields['content'], context),
      ...this.#refusal(given, place),
    ];
    const reasoningContent = textField(given, 'reasoning_content') ?? '';
    const toolCalls = this.#callsOf(fields, place);
    if (!isAbsent(fields['usage_metadata'])) this.#losses.drop('token counts', place);
    return {
      role: 'assistant',
      ...assistantContentOf(parts),
      ...(reasoningContent === '' ? {} : { reasoningContent }),
      ...(toolCalls.length > 0 ? { toolPayload: { toolCalls } } : {}),
      ...(origin === undefined ? {} : { origin }),
      ...(typeof fields['id'] === 'string' ? { messageId: fields['id'] } : {}),
    };
  }

  #callsOf(fields: JsonObject, place: string): ToolCallSpec[] {
    const calls = langChainCallsOf(fields, place, this.#losses, () => this.#makeId());
    if (calls.some(({ id }) => id === '')) this.#losses.approximate('a tool call without an id', place);
    return calls;
  }

  #refusal(given: JsonObject, place: string): ContentPart[] {
    const refusal = textField(given, 'refusal');
    if (refusal === undefined) return [];
    this.#losses.approximate('a refusal, as text', place);
    return [{ type: 'text', text: refusal }];
  }

  #result(fields: JsonObject, kind: 'tool' | 'function', place: string): Message {
    const name = textField(fields, 'name');
    const toolCallId = kind === 'tool' ? idText(fields['tool_call_id']) : this.#idOfFunction(name ?? '');
    const called = this.#calls.answered(toolCallId);
    if (!isAbsent(fields['artifact'])) this.#losses.drop('what a tool gave beside its result', place);
    const parts = langChainPartsOf(fields['content'], { place, losses: this.#losses });
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const media = parts.filter((part) => part.type === 'media');
    if (texts.length > 1) this.#losses.approximate('several texts of a result, as one', place);
    const text = texts.length > 0 ? texts.join('') : null;
    const isError = fields['status'] === 'error';
    const outcome = isError
      ? { toolResult: null, toolError: text ?? '' }
      : { toolResult: text, toolError: null };
    return {
      role: 'tool',
      content: null,
      toolPayload: { toolCallId, toolName: name ?? called, ...outcome },
      ...(media.length > 0 ? { parts: media } : {}),
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
}

/** The reasoning item of the Responses API, which the OpenAI package stores next to the content. */
function thoughtBeside(given: JsonObject, origin: Origin | undefined): ContentPart[] {
  const block = objectField(given, 'reasoning');
  const isItem = 'id' in block || 'summary' in block || 'encrypted_content' in block;
  return isItem ? [{ type: 'reasoning', reasoning: reasoningOf(block, origin) }] : [];
}

/** The maker of the model, by the model's name; else the service that ran it. */
function originOf(metadata: JsonObject): Origin | undefined {
  const model = textField(metadata, 'model_name', 'model', 'model_id', 'modelId');
  const { origin } = originOfModel(model);
  if (origin) return origin;
  const server = textField(metadata, 'model_provider');
  if (server === undefined) return undefined;
  const provider = FAMILIES.get(server) ?? server;
  return model === undefined ? { provider } : { provider, model };
}
