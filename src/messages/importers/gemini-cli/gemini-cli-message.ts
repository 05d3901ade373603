/** Records of a Gemini CLI session as neutral messages: an answer holds its calls, and its calls hold their results. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Message, Origin, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf } from '../reading/content-parts.js';
import { argumentsFrom, OpenCalls } from '../reading/open-calls.js';
import { idText, listField, signatureField, textField } from '../reading/record-fields.js';
import { geminiContentOf, geminiPartsOf, geminiThoughts } from './gemini-cli-parts.js';
import { resultOfRecord, resultOfResponse } from './gemini-cli-results.js';

const ANSWERS: ReadonlySet<JsonValue | undefined> = new Set(['gemini', 'model', 'assistant']);
export const NOTICES: ReadonlySet<JsonValue | undefined> = new Set(['info', 'warning', 'error']);

interface Answer {
  readonly parts: ContentPart[];
  readonly calls: ToolCallSpec[];
  readonly results: Message[];
}

export class GeminiRecords {
  readonly #losses: LossAccount;
  readonly #open = new OpenCalls();
  /** Calls of the last answer that already had results: the next turn may repeat the results. */
  #answered = new Set<string>();

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  /** The messages of the record: the answer, then the results. */
  messagesOf(record: JsonObject, place: string): Message[] {
    const { type } = record;
    if (record['displayContent'] !== undefined) this.#losses.drop('text of a message, for display', place);
    if (type === 'user') return this.#userTurn(record, place);
    if (ANSWERS.has(type)) return this.#answer(record, place);
    this.#losses.drop(NOTICES.has(type) ? 'notice of the tool' : 'message of an unknown type', place);
    return [];
  }

  #userTurn(record: JsonObject, place: string): Message[] {
    const results: Message[] = [];
    const content: ContentPart[] = [];
    for (const part of geminiPartsOf(record)) {
      const response = isJsonObject(part) ? part['functionResponse'] : undefined;
      const known = isJsonObject(part) ? geminiContentOf(part, { provider: 'google' }) : undefined;
      if (isJsonObject(response)) results.push(...this.#told(response, place));
      else if (known) content.push(known);
      else this.#losses.drop('content of an unknown kind', place);
    }
    const isOnlyResults = content.length === 0 && geminiPartsOf(record).length > 0;
    return isOnlyResults ? results : [...results, { role: 'user', ...contentOf(content) }];
  }

  #told(response: JsonObject, place: string): Message[] {
    const name = textField(response, 'name') ?? '';
    const id = idText(response['id']) || (this.#open.newestOf(name) ?? '');
    if (this.#answered.has(id)) {
      this.#losses.drop('result that is told again', place);
      return [];
    }
    return [resultOfResponse(response, id, this.#open.answered(id))];
  }

  #answer(record: JsonObject, place: string): Message[] {
    const model = textField(record, 'model');
    const origin: Origin = { provider: 'google', ...(model === undefined ? {} : { model }) };
    const answer: Answer = { parts: [], calls: [], results: [] };
    this.#answered = new Set();
    this.#addCallRecords(answer, record, place);
    this.#addParts(answer, record, origin, place);
    this.#addThoughts(answer, record, origin, place);
    if (record['tokens']) this.#losses.drop('token counts of an answer', place);
    const message = messageOf(answer, record, origin);
    this.#open.called(message);
    for (const id of this.#answered) this.#open.answered(id);
    return [message, ...answer.results];
  }

  #addCallRecords(answer: Answer, record: JsonObject, place: string): void {
    for (const call of listField(record, 'toolCalls')) {
      if (!isJsonObject(call)) this.#losses.drop('call that is not an object', place);
      else {
        const id = idText(call['id']);
        answer.calls.push(callOf(call, id));
        const result = resultOfRecord(call, id);
        if (result) {
          answer.results.push(result);
          this.#answered.add(id);
        }
        if (DISPLAYED.some((key) => call[key] !== undefined)) this.#losses.drop('call, for display', place);
      }
    }
  }

  #addParts(answer: Answer, record: JsonObject, origin: Origin, place: string): void {
    const recorded = answer.calls.length;
    for (const part of geminiPartsOf(record)) {
      const call = isJsonObject(part) ? part['functionCall'] : undefined;
      const known = isJsonObject(part) ? geminiContentOf(part, origin) : undefined;
      if (isJsonObject(part) && isJsonObject(call)) addCallPart(answer.calls, recorded, call, part);
      else if (known) answer.parts.push(known);
      else this.#losses.drop('content of an unknown kind', place);
    }
  }

  /** The history also has them as parts. */
  #addThoughts(answer: Answer, record: JsonObject, origin: Origin, place: string): void {
    const thoughts = geminiThoughts(record, origin);
    if (thoughts.length === 0) return;
    if (answer.parts.some((part) => part.type === 'reasoning'))
      this.#losses.drop('thought that is told again', place);
    else answer.parts.unshift(...thoughts.map((reasoning) => ({ type: 'reasoning' as const, reasoning })));
  }
}

const DISPLAYED = ['displayName', 'description', 'resultDisplay', 'renderOutputAsMarkdown'];

function callOf(call: JsonObject, id: string): ToolCallSpec {
  const signature = signatureField(call, 'thoughtSignature');
  return {
    id,
    name: textField(call, 'name') ?? '',
    ...argumentsFrom(call['args']),
    ...(signature === undefined ? {} : { signature }),
  };
}

/** If the call has a record of its own, only the signature is added. */
function addCallPart(calls: ToolCallSpec[], recorded: number, call: JsonObject, part: JsonObject): void {
  const signature = signatureField(part, 'thoughtSignature');
  const signed = signature === undefined ? {} : { signature };
  const id = idText(call['id']);
  const name = textField(call, 'name') ?? '';
  const at = calls.findIndex(
    (known, index) =>
      index < recorded &&
      (id === '' ? known.name === name && known.signature === undefined : known.id === id),
  );
  const known = calls[at];
  if (known) calls[at] = { ...known, ...signed };
  else calls.push({ ...callOf(call, id), ...signed });
}

function messageOf({ parts, calls }: Answer, record: JsonObject, origin: Origin): Message {
  const id = textField(record, 'id');
  // If there is no text, the tool writes an empty one next to the calls.
  const said =
    calls.length === 0
      ? parts
      : parts.filter((part) => part.type !== 'text' || part.text !== '' || part.signature);
  const hasPayload = calls.length > 0 || Array.isArray(record['toolCalls']);
  return {
    role: 'assistant',
    ...assistantContentOf(said),
    ...(hasPayload ? { toolPayload: { toolCalls: calls } } : {}),
    origin,
    ...(id === undefined ? {} : { messageId: id }),
  };
}
