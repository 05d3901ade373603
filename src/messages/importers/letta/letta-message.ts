/** Reads the messages of a Letta agent. What its server sends to the model (heartbeats, alerts) has the user role. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Message, Origin, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf } from '../reading/content-parts.js';
import { argumentsFrom, OpenCalls } from '../reading/open-calls.js';
import {
  idText,
  isAbsent,
  listField,
  objectField,
  originOfModel,
  signatureField,
  textField,
} from '../reading/record-fields.js';
import { lettaPartsOf } from './letta-parts.js';
import { lettaResultsOf } from './letta-results.js';

/** The start of the summary that the server writes for messages it removed from the context. */
const SUMMARY = /prior messages .{0,80}have been hidden from view/;

const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['anthropic', 'anthropic'],
  ['openai', 'openai'],
  ['azure', 'openai'],
  ['google_ai', 'google'],
  ['google_vertex', 'google'],
]);

export class LettaReader {
  readonly #losses: LossAccount;
  readonly #settings: JsonObject;
  readonly #calls = new OpenCalls();

  /** @param settings of the agent's model */
  constructor(settings: JsonObject, losses: LossAccount) {
    this.#settings = settings;
    this.#losses = losses;
  }

  /** Usually one message; several if one record has the results of several calls. */
  read(json: JsonValue, place: string): Message[] {
    const messages = isJsonObject(json) ? this.#read(json, place) : [];
    if (messages.length === 0) this.#losses.drop('a member that is not a message', place);
    for (const message of messages) this.#calls.called(message);
    return messages;
  }

  #read(json: JsonObject, place: string): Message[] {
    switch (json['role']) {
      case 'system':
        return [{ role: 'system', ...this.#content(json, place) }];
      case 'user':
      case 'summary':
        return [this.#said(json, place)];
      case 'assistant':
        return [this.#assistant(json, place)];
      case 'tool':
      case 'function':
        return lettaResultsOf(json, place, this.#calls, this.#losses);
      case 'approval':
        return this.#approval(json, place);
      default:
        return [];
    }
  }

  #content(json: JsonObject, place: string): Pick<Message, 'content' | 'parts'> {
    return contentOf(lettaPartsOf(json, { place, losses: this.#losses }));
  }

  #said(json: JsonObject, place: string): Message {
    if (!isAbsent(json['name'])) this.#losses.drop('the name of a speaker', place);
    const said = this.#content(json, place);
    const isSummary = json['role'] === 'summary' || isSummaryAlert(said.content);
    return { role: 'user', ...said, ...(isSummary ? { kind: 'memory' as const } : {}) };
  }

  #assistant(json: JsonObject, place: string): Message {
    const origin = this.#originOf(json);
    const parts: ContentPart[] = lettaPartsOf(json, { place, losses: this.#losses, origin });
    const calls = this.#callsOf(json, place);
    return {
      role: 'assistant',
      ...assistantContentOf(parts),
      ...(calls ? { toolPayload: { toolCalls: calls } } : {}),
      ...(origin === undefined ? {} : { origin }),
      ...(typeof json['id'] === 'string' ? { messageId: json['id'] } : {}),
    };
  }

  /** The calls are in a list of their own or, in newer files, in the content. */
  #callsOf(json: JsonObject, place: string): ToolCallSpec[] | undefined {
    const listed = listField(json, 'tool_calls');
    const calls = listed.filter(isJsonObject).map(callOf);
    for (let at = calls.length; at < listed.length; at += 1)
      this.#losses.drop('a tool call that is not an object', place);
    const known = new Set(calls.map(({ id }) => id));
    for (const part of listField(json, 'content'))
      if (isJsonObject(part) && part['type'] === 'tool_call' && !known.has(idText(part['id'])))
        calls.push(callOf(part));
    // An empty list in the record is kept, because it would be sent too.
    return calls.length > 0 || Array.isArray(json['tool_calls']) ? calls : undefined;
  }

  /** A request for approval holds the calls; its answer holds decisions, and results of tools that ran elsewhere. */
  #approval(json: JsonObject, place: string): Message[] {
    if (listField(json, 'tool_calls').length > 0) {
      this.#losses.approximate('a request for approval, as the tool calls in it', place);
      return [this.#assistant(json, place)];
    }
    const answers = listField(json, 'approvals').filter(isJsonObject);
    const returns = answers.filter((answer) => !isAbsent(answer['tool_call_id']) && 'status' in answer);
    this.#losses.drop('an answer to a request for approval', place);
    return lettaResultsOf({ tool_returns: [...returns] }, place, this.#calls, this.#losses);
  }

  #originOf(json: JsonObject): Origin | undefined {
    const model = textField(json, 'model') ?? textField(this.#settings, 'model');
    const { origin } = originOfModel(model);
    const provider = PROVIDERS.get(textField(this.#settings, 'model_endpoint_type') ?? '');
    if (origin || provider === undefined) return origin;
    return model === undefined ? { provider } : { provider, model };
  }
}

function callOf(call: JsonObject): ToolCallSpec {
  const inner = { ...call, ...objectField(call, 'function') };
  const signature = signatureField(call, 'signature');
  return {
    id: idText(call['id']),
    name: idText(inner['name']),
    ...argumentsFrom(inner['arguments'] ?? inner['input']),
    ...(signature === undefined ? {} : { signature }),
  };
}

function isSummaryAlert(content: string | null): boolean {
  return content?.startsWith('{') === true && SUMMARY.test(content.slice(0, 400));
}
