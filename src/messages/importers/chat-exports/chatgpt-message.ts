/**
 * The messages of a ChatGPT conversation. Reasoning, calls and answers are messages of their own there; calls have no
 * ids, and their arguments are text.
 */
import { isJsonObject, type JsonObject, tryParseJson } from '../../../core/json.js';
import type { ContentPart, Message, ReasoningItem, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { contentOf } from '../reading/content-parts.js';
import { keepMessage } from '../reading/keep-message.js';
import { argumentsFromText, OpenCalls } from '../reading/open-calls.js';
import { idText, listField, objectField, textField } from '../reading/record-fields.js';
import type { TranscriptItem } from '../transcript.js';
import { textsOf, thoughtsOf } from './chatgpt-content.js';

interface Pending {
  readonly message: Message;
  readonly ts: number | undefined;
}

export class ChatGptReader {
  readonly #losses: LossAccount;
  readonly #calls = new OpenCalls();
  /** The newest call without a result. */
  #open: string | null = null;
  /** Belongs to the answer after it. */
  #thoughts: ReasoningItem[] = [];
  /** The last result: more output of its call may follow. */
  #result: Pending | null = null;

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  *read(json: JsonObject, place: string): Generator<TranscriptItem> {
    const role = textField(objectField(json, 'author'), 'role');
    const content = objectField(json, 'content');
    this.#account(json, place);
    if (content['content_type'] === 'thoughts') this.#thoughts.push(...thoughtsOf(content, originOf(json)));
    else if (content['content_type'] === 'reasoning_recap')
      this.#losses.drop('a recap of reasoning for display', place);
    else if (role === 'tool') yield* this.#tool(json, place);
    else if (role === 'assistant') yield* this.#assistant(json, place);
    else if (role === 'user' || role === 'system') yield* this.#said(role, json, place);
    else this.#losses.drop('a message of an unknown role', place);
  }

  *end(): Generator<TranscriptItem> {
    yield* this.#flush();
    yield* this.#reasoningAlone();
  }

  *#said(role: 'user' | 'system', json: JsonObject, place: string): Generator<TranscriptItem> {
    const parts = this.#parts(json, place);
    if (parts.length === 0) this.#losses.drop('an empty message', place);
    else {
      yield* this.#flush();
      yield* this.#reasoningAlone();
      yield this.#item({ role, ...contentOf(parts) }, timeIn(json));
    }
  }

  *#assistant(json: JsonObject, place: string): Generator<TranscriptItem> {
    const parts = this.#parts(json, place);
    const recipient = textField(json, 'recipient') ?? 'all';
    const call = recipient === 'all' ? undefined : this.#call(recipient, json, parts, place);
    if (!call && parts.length === 0) {
      this.#losses.drop('an empty message', place);
      return;
    }
    const messageId = idText(json['id']);
    const message: Message = {
      role: 'assistant',
      ...(call ? { content: null, toolPayload: { toolCalls: [call] } } : contentOf(parts)),
      ...this.#takeThoughts(),
      origin: originOf(json),
      ...(messageId === '' ? {} : { messageId }),
    };
    yield* this.#flush();
    this.#calls.called(message);
    if (call) this.#open = call.id;
    yield this.#item(message, timeIn(json));
  }

  #call(name: string, json: JsonObject, parts: readonly ContentPart[], place: string): ToolCallSpec {
    const id = idText(json['id']) || place;
    const text = textOfParts(parts);
    if (text.trim() === '') return { id, name, arguments: {} };
    if (isJsonObject(tryParseJson(text))) return { id, name, ...argumentsFromText(text) };
    this.#losses.approximate('the text of a tool call, as its argument `input`', place);
    return { id, name, arguments: { input: text } };
  }

  *#tool(json: JsonObject, place: string): Generator<TranscriptItem> {
    const name = textField(objectField(json, 'author'), 'name') ?? '';
    const text = textOfParts(this.#parts(json, place));
    const id = this.#calls.newestOf(name) ?? this.#open;
    if (id === null && this.#result) {
      this.#losses.approximate('several outputs of one call, as one result', place);
      this.#result = { ...this.#result, message: withMoreOutput(this.#result.message, text) };
      return;
    }
    yield* this.#flush();
    const called = id === null ? '' : this.#calls.answered(id);
    if (id === this.#open) this.#open = null;
    const failed = objectField(json, 'content')['content_type'] === 'system_error';
    const payload = failed
      ? { toolResult: null, toolError: text.trim() === '' ? 'The tool failed.' : text }
      : { toolResult: text, toolError: null };
    const toolCallId = id ?? (idText(json['id']) || place);
    const message: Message = {
      role: 'tool',
      content: null,
      toolPayload: { toolCallId, toolName: called || name, ...payload },
    };
    this.#result = { message, ts: timeIn(json) };
  }

  *#flush(): Generator<TranscriptItem> {
    const result = this.#result;
    this.#result = null;
    if (result) yield this.#item(result.message, result.ts);
  }

  /** Reasoning that no answer followed, because the person stopped it. */
  *#reasoningAlone(): Generator<TranscriptItem> {
    if (this.#thoughts.length === 0) return;
    yield this.#item({ role: 'assistant', content: null, ...this.#takeThoughts() }, undefined);
  }

  #takeThoughts(): Pick<Message, 'reasoning'> {
    const reasoning = this.#thoughts;
    this.#thoughts = [];
    return reasoning.length === 0 ? {} : { reasoning };
  }

  #parts(json: JsonObject, place: string): ContentPart[] {
    return textsOf(objectField(json, 'content'), place, this.#losses).map((text) => ({ type: 'text', text }));
  }

  #item(message: Message, ts: number | undefined): TranscriptItem {
    keepMessage(message, this.#losses);
    return { kind: 'message', message, ...(ts === undefined ? {} : { ts }) };
  }

  #account(json: JsonObject, place: string): void {
    const metadata = objectField(json, 'metadata');
    for (const file of listField(metadata, 'attachments')) {
      const name = isJsonObject(file) ? (textField(file, 'name') ?? '') : '';
      this.#losses.drop(
        'an attached file, which the export does not contain',
        `${place} ${name.slice(0, 60)}`,
      );
    }
    if (listField(metadata, 'citations').length + listField(metadata, 'content_references').length > 0)
      this.#losses.drop('citations', place);
  }
}

function originOf(json: JsonObject): { readonly provider: string; readonly model?: string } {
  const model = textField(objectField(json, 'metadata'), 'model_slug');
  return { provider: 'openai', ...(model === undefined ? {} : { model }) };
}

/** In seconds. */
function timeIn(json: JsonObject): number | undefined {
  const time = json['create_time'];
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined;
}

function textOfParts(parts: readonly ContentPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function withMoreOutput(message: Message, text: string): Message {
  const payload = message.toolPayload;
  if (!payload || !('toolCallId' in payload)) return message;
  const { toolResult, toolError } = payload;
  const more = (before: string) => (before === '' ? text : `${before}\n${text}`);
  return {
    ...message,
    toolPayload:
      toolError === null
        ? { ...payload, toolResult: more(typeof toolResult === 'string' ? toolResult : '') }
        : { ...payload, toolError: more(toolError) },
  };
}
