/**
 * Contents of the Gemini API, in the spelling of the wire format and of the Python SDK. Calls often have no id; then a
 * response belongs to the oldest open call of its name.
 */
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../../../core/json.js';
import type { ContentPart, Message, Origin, ProviderItem, ToolCallSpec } from '../../message.js';
import type { EntryReader } from '../entries/entry-reader.js';
import { geminiContentOf } from '../gemini-cli/gemini-cli-parts.js';
import { resultOfResponse } from '../gemini-cli/gemini-cli-results.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf } from '../reading/content-parts.js';
import { keepMessage } from '../reading/keep-message.js';
import { opaqueBlock } from '../reading/opaque-blocks.js';
import { argumentsFrom } from '../reading/open-calls.js';
import { idText, listField, objectField, signatureField, textField } from '../reading/record-fields.js';
import type { TranscriptItem } from '../transcript.js';

interface ReadParts {
  readonly parts: ContentPart[];
  readonly calls: ToolCallSpec[];
  readonly results: Message[];
  readonly items: ProviderItem[];
}

export class GeminiReader implements EntryReader {
  readonly #losses: LossAccount;
  readonly #origin: Origin;
  /** Calls without a response, in order. */
  #open: { readonly id: string; readonly name: string }[] = [];
  #made = 0;

  constructor(losses: LossAccount, origin: Origin = { provider: 'google' }) {
    this.#losses = losses;
    this.#origin = origin;
  }

  *read(entry: JsonValue, place: string): Generator<TranscriptItem> {
    for (const message of this.#messagesOf(entry, place)) {
      keepMessage(message, this.#losses);
      yield { kind: 'message', message };
    }
  }

  end(): Iterable<TranscriptItem> {
    return [];
  }

  #messagesOf(entry: JsonValue, place: string): Message[] {
    if (!isJsonObject(entry)) return this.#refuse('a content that is not an object', place);
    const candidates = listField(entry, 'candidates');
    if (candidates.length > 0) return this.#response(entry, candidates, place);
    const given = entry['parts'] ?? entry['content'];
    const parts = Array.isArray(given) ? given : given === undefined || given === null ? [] : [given];
    const { role } = entry;
    if (role === 'model' || role === 'assistant') return this.#answer(parts, this.#origin, {}, place);
    if (role === 'system') return [{ role, ...contentOf(this.#read(parts, this.#origin, place).parts) }];
    const isHost = role === undefined || role === 'user' || role === 'function' || role === 'tool';
    return isHost ? this.#userTurn(parts, place) : this.#refuse('a content of an unknown role', place);
  }

  /** If there are several candidates, the first is the answer. */
  #response(entry: JsonObject, candidates: readonly JsonValue[], place: string): Message[] {
    const [first, ...others] = candidates;
    for (const _ of others) this.#losses.drop('another candidate of the model', place);
    const content = isJsonObject(first) ? objectField(first, 'content') : {};
    const model = textField(entry, 'modelVersion', 'model_version');
    const id = textField(entry, 'responseId', 'response_id');
    const origin = model === undefined ? this.#origin : { ...this.#origin, model };
    return this.#answer(
      listField(content, 'parts'),
      origin,
      id === undefined ? {} : { messageId: id },
      place,
    );
  }

  #refuse(what: string, place: string): Message[] {
    this.#losses.unreadable(what, place);
    return [];
  }

  #answer(
    given: readonly JsonValue[],
    origin: Origin,
    id: Pick<Message, 'messageId'>,
    place: string,
  ): Message[] {
    const { parts, calls, results, items } = this.#read(given, origin, place);
    this.#open.push(...calls.map((call) => ({ id: call.id, name: call.name })));
    const message: Message = {
      role: 'assistant',
      ...assistantContentOf(parts),
      ...(calls.length > 0 ? { toolPayload: { toolCalls: calls } } : {}),
      ...(items.length > 0 ? { providerItems: items } : {}),
      origin,
      ...id,
    };
    return [message, ...results];
  }

  #userTurn(given: readonly JsonValue[], place: string): Message[] {
    const { parts, calls, results, items } = this.#read(given, this.#origin, place);
    if (calls.length > 0) this.#losses.unreadable('a call in a content of the user', place);
    if (results.length > 0 && parts.length === 0 && items.length === 0) return results;
    const said: Message = {
      role: 'user',
      ...contentOf(parts),
      ...(items.length > 0 ? { providerItems: items } : {}),
    };
    return [...results, said];
  }

  #read(given: readonly JsonValue[], origin: Origin, place: string): ReadParts {
    const read: ReadParts = { parts: [], calls: [], results: [], items: [] };
    for (const [index, part] of given.entries())
      this.#readPart(
        typeof part === 'string' ? { text: part } : part,
        origin,
        `${place}/parts/${index}`,
        read,
      );
    return read;
  }

  #readPart(given: JsonValue, origin: Origin, place: string, read: ReadParts): void {
    const part = isJsonObject(given) ? wireSpellingOf(given) : {};
    const call = part['functionCall'];
    const response = part['functionResponse'];
    const known = geminiContentOf(part, origin);
    if (isJsonObject(call)) read.calls.push(this.#call(call, part));
    else if (isJsonObject(response)) read.results.push(this.#result(response));
    else if (known) {
      if (read.calls.length > 0) this.#losses.approximate('content after a call of the same answer', place);
      read.parts.push(known);
    } else {
      const { item, text } = opaqueBlock(given, origin, place, this.#losses);
      read.items.push(item);
      if (text !== null) read.parts.push({ type: 'text', text });
    }
  }

  #call(call: JsonObject, part: JsonObject): ToolCallSpec {
    const signature = signatureField(part, 'thoughtSignature');
    return {
      id: idText(call['id']) || this.#makeId(),
      name: textField(call, 'name') ?? '',
      ...argumentsFrom(call['args']),
      ...(signature === undefined ? {} : { signature }),
    };
  }

  #result(given: JsonObject): Message {
    const name = textField(given, 'name') ?? '';
    const id = idText(given['id']);
    const at = this.#open.findIndex((call) => (id === '' ? call.name === name : call.id === id));
    const [call] = at < 0 ? [] : this.#open.splice(at, 1);
    return resultOfResponse(given, id || (call?.id ?? this.#makeId()), call?.name ?? '');
  }

  #makeId(): string {
    this.#made += 1;
    return `gemini_call_${this.#made}`;
  }
}

const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['function_call', 'functionCall'],
  ['function_response', 'functionResponse'],
  ['inline_data', 'inlineData'],
  ['file_data', 'fileData'],
  ['thought_signature', 'thoughtSignature'],
  ['mime_type', 'mimeType'],
  ['file_uri', 'fileUri'],
  ['display_name', 'displayName'],
]);
const NESTED: ReadonlySet<string> = new Set(['inlineData', 'fileData']);

/** The Python SDK writes names with underscores, and null for absent values. */
function wireSpellingOf(part: JsonObject): JsonObject {
  const wire: JsonObject = {};
  for (const [key, value] of Object.entries(part)) {
    if (value === null) continue;
    const name = SPELLINGS.get(key) ?? key;
    setOwn(wire, name, NESTED.has(name) && isJsonObject(value) ? wireSpellingOf(value) : value);
  }
  return wire;
}
