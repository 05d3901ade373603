/**
 * Goose sessions: a header and one message per line, or an exported document. After a compaction, Goose hides the
 * messages before it from the model.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { type Message, type Origin, textOf } from '../../message.js';
import { AnthropicReader } from '../anthropic/anthropic.js';
import { headOf } from '../detect-format.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { membersOf } from '../reading/list-members.js';
import { listField, objectField, originOfModel, textField } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { gooseBlocksOf } from './goose-blocks.js';

export const gooseImporter: TranscriptImporter = {
  format: 'goose',
  title: 'Goose session',
  lookedFor:
    'a line {working_dir, ...}, then {role, created, content: [{type: "text"|"toolRequest"|...}]}; or a document with `conversation`',
  recognises,
  read,
};

const OWN_BLOCKS: ReadonlySet<JsonValue | undefined> = new Set([
  'toolRequest',
  'toolResponse',
  'frontendToolRequest',
  'toolConfirmationRequest',
]);
const LISTS = ['conversation', 'messages'];

function recognises({ shape, items, fields, keys }: TranscriptHead): boolean {
  if (shape === 'lines')
    return items.some(hasOwnBlock) || (isHeader(items[0]) && items.slice(1).every(isMessage));
  if (shape === 'array') return items.some(hasOwnBlock);
  const messages = listField(fields, ...LISTS);
  if (shape !== 'object' || !keys.has('working_dir')) return messages.some(hasOwnBlock);
  return messages.length > 0 && messages.every(isMessage);
}

function isHeader(line: JsonValue | undefined): boolean {
  return isJsonObject(line) && typeof line['working_dir'] === 'string' && !('role' in line);
}

function isMessage(line: JsonValue): boolean {
  if (!isJsonObject(line) || !Array.isArray(line['content'])) return false;
  return (line['role'] === 'user' || line['role'] === 'assistant') && typeof line['created'] === 'number';
}

function hasOwnBlock(line: JsonValue): boolean {
  if (!isJsonObject(line) || typeof line['role'] !== 'string') return false;
  return listField(line, 'content').some((block) => isJsonObject(block) && OWN_BLOCKS.has(block['type']));
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const head = await headOf(source);
  const header = head?.shape === 'lines' ? head.items.find(isHeader) : head?.fields;
  const session = new GooseSession(losses, originOf(isJsonObject(header) ? header : {}));
  if (head?.shape === 'lines')
    for await (const { value, line } of readJsonLines(source.chunks(), losses))
      yield* session.read(value, `line ${line}`);
  else
    for await (const { value, place } of membersOf(source, LISTS, losses)) yield* session.read(value, place);
}

function originOf(header: JsonObject): Origin | undefined {
  const model = textField(objectField(header, 'model_config'), 'model_name');
  const provider = textField(header, 'provider_name');
  if (provider === undefined) return originOfModel(model).origin;
  return { provider, ...(model === undefined ? {} : { model }) };
}

class GooseSession {
  readonly #losses: LossAccount;
  readonly #reader: AnthropicReader;
  #hasHidden = false;
  #hasVisible = false;

  constructor(losses: LossAccount, origin: Origin | undefined) {
    this.#losses = losses;
    this.#reader = new AnthropicReader(losses, undefined, origin);
  }

  *read(record: JsonValue, place: string): Generator<TranscriptItem> {
    if (!isJsonObject(record) || !isRole(record['role'])) {
      this.#losses.drop(isHeader(record) ? 'session header' : 'record that is not a message', place);
      return;
    }
    const isHidden = objectField(record, 'metadata')['agentVisible'] === false;
    if (isHidden && this.#hasVisible) {
      this.#losses.drop('message that the model is not shown', place);
      return;
    }
    const items = this.#itemsOf(record, place);
    const [first] = items;
    const isSummary = !isHidden && this.#hasHidden && !this.#hasVisible && items.length === 1;
    if (isHidden) this.#hasHidden = true;
    else if (items.length > 0) this.#hasVisible = true;
    if (isSummary && first?.kind === 'message')
      yield { ...first, kind: 'compaction', messages: [memoryOf(first.message)] };
    else yield* items;
  }

  /** Nothing is left of a message of notifications. Only milliseconds have more than eleven digits. */
  #itemsOf(record: JsonObject, place: string): TranscriptItem[] {
    const { content, created } = record;
    const blocks = Array.isArray(content) ? gooseBlocksOf(content, this.#losses, place) : (content ?? '');
    if (Array.isArray(blocks) && blocks.length === 0 && Array.isArray(content) && content.length > 0)
      return [];
    const seconds = typeof created === 'number' && created > 1e11 ? created / 1000 : created;
    const time = typeof seconds === 'number' && Number.isFinite(seconds) ? { ts: seconds } : {};
    const items = this.#reader.read({ role: record['role']!, content: blocks }, place);
    return [...items].map((item) => ({ ...item, ...time }));
  }
}

function isRole(role: JsonValue | undefined): boolean {
  return role === 'user' || role === 'assistant' || role === 'system';
}

function memoryOf(message: Message): Message {
  return { role: 'user', content: textOf(message), kind: 'memory' };
}
