/** Anthropic Messages requests and message lists, also as Cline stores them: one document, read one message at a time. */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { type Message, type Origin, textOf } from '../../message.js';
import type { EntryReader } from '../entries/entry-reader.js';
import type { LossAccount } from '../loss-account.js';
import { type JsonPath, type JsonSlice, sliceJson } from '../reading/json-slices.js';
import { keepMessage } from '../reading/keep-message.js';
import { OpenCalls } from '../reading/open-calls.js';
import {
  idText,
  objectField,
  originOfModel,
  secondsOf,
  signatureField,
  textField,
} from '../reading/record-fields.js';
import type { TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { answerFromBlocks, blocksOf, userMessagesFrom } from './anthropic-blocks.js';
import { isAnthropicList, isDisplayList } from './anthropic-detection.js';
import { displayedMessage } from './cline-display.js';
import { accountForTextTools } from './cline-texts.js';

export const anthropicImporter: TranscriptImporter = {
  format: 'anthropic',
  entries: 'anthropic',
  title: 'Anthropic messages (also Cline)',
  lookedFor:
    'a list of user and assistant messages with Anthropic content blocks, or messages beside a system prompt',
  recognises: (head) => isAnthropicList(head) || isDisplayList(head),
  read,
};

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const { system, model, isList } = await settingsOf(source, losses);
  if (system !== null) {
    losses.record();
    const message: Message = { role: 'system', content: system };
    keepMessage(message, losses);
    yield { kind: 'message', message };
  }
  const reading = new AnthropicReader(losses, model);
  const slices = sliceJson(source.chunks(), (path) => choose(path, isList));
  for await (const { path, value } of slices) {
    losses.record();
    const at = path[path.length - 1];
    yield* reading.read(value, `messages/${at}`);
  }
}

function choose(path: JsonPath, isList: boolean): 'enter' | 'take' | 'skip' {
  if (path.length === 0) return 'enter';
  if (path.length === (isList ? 1 : 2)) return 'take';
  return path[0] === 'messages' ? 'enter' : 'skip';
}

interface Settings {
  /** The text of the system prompt. */
  readonly system: string | null;
  readonly model: string | undefined;
  readonly isList: boolean;
}

/** The system prompt may come after the messages. */
async function settingsOf(source: TranscriptSource, losses: LossAccount): Promise<Settings> {
  let isList = false;
  let hasMessages = false;
  const found = new Map<string, JsonValue>();
  const slices = sliceJson(source.chunks(), (path) => {
    if (path.length === 0) return 'enter';
    const [key] = path;
    if (typeof key === 'number') isList = true;
    if (key === 'messages') hasMessages = true;
    if (key === 'tools') losses.drop('definitions of tools', 'tools');
    return key === 'system' || key === 'system_prompt' || key === 'model' ? 'take' : 'skip';
  });
  for await (const { path, value } of slices) noteSetting(found, path, value);
  if (!isList && !hasMessages) throw noMessages(source);
  const system = systemOf(found.get('system') ?? found.get('system_prompt'), losses);
  const model = found.get('model');
  return { system, model: typeof model === 'string' ? model : undefined, isList };
}

function noteSetting(found: Map<string, JsonValue>, path: JsonSlice['path'], value: JsonValue): void {
  const [key] = path;
  if (typeof key === 'string') found.set(key, value);
}

function noMessages(source: TranscriptSource): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', `${JSON.stringify(source.name)} has no list of messages.`, {
    details: { name: source.name, lookedFor: 'a list at the top, or below the key messages' },
  });
}

export function systemOf(given: JsonValue | undefined, losses: LossAccount): string | null {
  if (typeof given === 'string') return given;
  if (!Array.isArray(given)) return null;
  const texts = given.filter(isJsonObject).map((block) => textField(block, 'text') ?? '');
  if (texts.length > 1) losses.approximate('system prompt of several texts, joined', 'system');
  return texts.length > 0 ? texts.join('\n\n') : null;
}

/** The messages of a list, one at a time. */
export class AnthropicReader implements EntryReader {
  readonly #losses: LossAccount;
  readonly #openCalls = new OpenCalls();
  /** The origin of the request: the only known origin of its earlier answers. */
  readonly #origin: Origin | undefined;
  #isFirst = true;

  constructor(losses: LossAccount, model?: string, origin?: Origin) {
    this.#losses = losses;
    this.#origin =
      origin ??
      originOfModel(model).origin ??
      (model === undefined ? undefined : { provider: 'anthropic', model });
  }

  end(): Iterable<TranscriptItem> {
    return [];
  }

  *read(value: JsonValue, place: string): Generator<TranscriptItem> {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const record = isJsonObject(value) ? value : {};
    const messages = this.#messagesOf(value, record, isFirst, place);
    for (const message of messages) {
      keepMessage(message, this.#losses);
      accountForTextTools(message, place, this.#losses);
    }
    const time = secondsOf(record['ts']);
    const isSummary = messages.some((message) => message.kind === 'memory');
    if (isSummary && !isFirst) yield { kind: 'compaction', messages, ...time };
    else for (const message of messages) yield { kind: 'message', message, ...time };
  }

  #messagesOf(value: JsonValue, record: JsonObject, isFirst: boolean, place: string): Message[] {
    const { role, content } = record;
    if (role === 'assistant') return [this.#answer(record, place)];
    if (role === 'user') {
      const messages = userMessagesFrom(content, place, this.#openCalls, this.#losses);
      return isSummaryRecord(record) ? [summaryOf(messages)] : messages;
    }
    if (role === 'system') return [{ role, content: systemOf(content, this.#losses) ?? '' }];
    if (typeof record['say'] === 'string' || typeof record['ask'] === 'string') {
      const message = displayedMessage(value, isFirst, place, this.#losses);
      return message ? [message] : [];
    }
    this.#losses.unreadable('record that is not a message', place);
    return [];
  }

  #answer(record: JsonObject, place: string): Message {
    const origin = originOf(record) ?? this.#origin;
    const blocks = blocksOf(record['content'], place);
    const isAnthropic = blocks.some(
      ({ block }) => isJsonObject(block) && signatureField(block, 'signature') !== undefined,
    );
    const known = origin ?? (isAnthropic ? { provider: 'anthropic' } : undefined);
    const message = answerFromBlocks(blocks, known, this.#losses);
    const messageId = idText(record['id']);
    if (isJsonObject(record['metrics'])) this.#losses.drop('token counts of an answer', place);
    this.#openCalls.called(message);
    return messageId === '' ? message : { ...message, messageId };
  }
}

/** Cline records the model of each answer. The maker may be part of its name. */
function originOf(record: JsonObject): Origin | undefined {
  const info = objectField(record, 'modelInfo');
  const given = textField(info, 'id', 'modelId') ?? textField(record, 'model');
  const provider = textField(info, 'provider', 'providerId');
  if (given === undefined) return undefined;
  const [, model = given] = /^(?:anthropic|openai|google)\/(.+)$/.exec(given) ?? [];
  return originOfModel(model).origin ?? (provider === undefined ? undefined : { provider, model });
}

function isSummaryRecord(record: JsonObject): boolean {
  return objectField(record, 'metadata')['kind'] === 'compaction_summary';
}

function summaryOf(messages: readonly Message[]): Message {
  return { role: 'user', content: messages.map(textOf).join('\n'), kind: 'memory' };
}
