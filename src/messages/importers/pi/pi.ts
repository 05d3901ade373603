/** Sessions of the pi coding agent: a tree of entries, one per line, or a single message as a document. */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Message, Origin } from '../../message.js';
import { headOf } from '../detect-format.js';
import { LossAccount } from '../loss-account.js';
import { sliceJson } from '../reading/json-slices.js';
import { keepMessage } from '../reading/keep-message.js';
import { objectField, textField } from '../reading/record-fields.js';
import { RecordReader } from '../reading/record-reader.js';
import { timeOf } from '../reading/record-time.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { piMessageOf, piSummaryOf, piSummaryTold } from './pi-message.js';
import { piOrigin } from './pi-parts.js';
import { PiTree } from './pi-tree.js';

/** What a compaction kept is yielded again with it, up to this size in bytes: it is held in memory at once. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

const ROLES: ReadonlySet<JsonValue | undefined> = new Set([
  'user',
  'assistant',
  'toolResult',
  'bashExecution',
]);

export const piImporter: TranscriptImporter = {
  format: 'pi',
  title: 'pi session',
  lookedFor:
    'JSON lines with {type:"session"|"message", message:{role}} entries, or one message with api and stopReason',
  recognises,
  read,
};

function recognises(head: TranscriptHead): boolean {
  if (head.shape === 'object') return isSingleMessage(head.fields) && head.keys.has('content');
  if (head.shape !== 'lines') return false;
  const lines = head.items.filter(isJsonObject);
  if (lines.some((line) => line['type'] === 'message')) return lines.some(isMessageEntry);
  return lines[0] !== undefined && isHeader(lines[0]);
}

function isSingleMessage(fields: JsonObject): boolean {
  const isAnswer =
    fields['role'] === 'assistant' && ['api', 'provider', 'stopReason'].every((key) => key in fields);
  return isAnswer || (fields['role'] === 'toolResult' && 'toolCallId' in fields);
}

/** Messages have their own time in milliseconds. Other tools with entries of this name write none. */
function isMessageEntry(line: JsonObject): boolean {
  const message = objectField(line, 'message');
  return line['type'] === 'message' && ROLES.has(message['role']) && typeof message['timestamp'] === 'number';
}

function isHeader(line: JsonObject): boolean {
  const isNamed = ['id', 'timestamp', 'cwd'].every((key) => typeof line[key] === 'string');
  return line['type'] === 'session' && isNamed;
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const head = await headOf(source);
  if (head?.shape === 'object') yield* readDocument(source, losses);
  else yield* new PiSession(await PiTree.of(source, losses), source, losses).items();
}

async function* readDocument(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  for await (const { value } of sliceJson(source.chunks(), () => 'take')) {
    losses.record();
    const message = isJsonObject(value) ? piMessageOf(value, undefined, losses, 'the document') : null;
    if (!message || !isJsonObject(value)) continue;
    keepMessage(message, losses);
    yield { kind: 'message', message, ...timeOf(value['timestamp']) };
  }
}

class PiSession {
  readonly #tree: PiTree;
  readonly #reader: RecordReader;
  readonly #losses: LossAccount;
  readonly #source: TranscriptSource;
  /** Set by the header and by model changes, for answers without a model of their own. */
  #origin: Origin | undefined;

  constructor(tree: PiTree, source: TranscriptSource, losses: LossAccount) {
    this.#tree = tree;
    this.#source = source;
    this.#losses = losses;
    this.#reader = new RecordReader(source);
  }

  async *items(): AsyncGenerator<TranscriptItem> {
    if (this.#tree.size === 0) throw noSession();
    for (let index = 0; index < this.#tree.size; index += 1) {
      const place = this.#tree.placeOf(index);
      if (!this.#tree.isInUse(index)) this.#losses.drop('entry on a branch that was left', place);
      else {
        const item = await this.#itemOf(index, place);
        if (item) yield item;
      }
    }
  }

  async #itemOf(index: number, place: string): Promise<TranscriptItem | null> {
    const entry = await this.#reader.read(...this.#tree.rangeOf(index));
    if (isCompaction(entry)) return this.#compactionOf(entry, index, place);
    const message = this.#messageOf(entry, this.#losses, place);
    if (!message) return null;
    keepMessage(message, this.#losses);
    return {
      kind: 'message',
      message,
      ...timeOf(entry['timestamp'], objectField(entry, 'message')['timestamp']),
    };
  }

  #messageOf(entry: JsonObject, losses: LossAccount, place: string): Message | null {
    switch (entry['type']) {
      case 'message':
        return piMessageOf(objectField(entry, 'message'), this.#origin, losses, place);
      case 'custom_message':
        return piMessageOf({ role: 'custom', content: entry['content'] ?? null }, undefined, losses, place);
      case 'branch_summary':
      case 'branchSummary':
        return piSummaryTold(entry, losses, place);
      case 'session':
      case 'model_change':
        this.#origin = piOrigin(entry, this.#origin);
        losses.drop(entry['type'] === 'session' ? 'session header' : 'change of the model', place);
        return null;
      default:
        losses.drop(OTHER_ENTRIES.get(entry['type']) ?? 'entry of an unknown type', place);
        return null;
    }
  }

  async #compactionOf(entry: JsonObject, index: number, place: string): Promise<TranscriptItem | null> {
    const summary = piSummaryOf(entry, this.#losses, place);
    if (!summary) return null;
    keepMessage(summary, this.#losses);
    const kept = await this.#keptBefore(index, entry, place);
    return { kind: 'compaction', messages: [summary, ...kept], ...timeOf(entry['timestamp']) };
  }

  /** The messages from the first kept entry on, which stayed in the context next to the summary. */
  async #keptBefore(index: number, entry: JsonObject, place: string): Promise<Message[]> {
    const first = this.#firstKept(entry);
    if (first === undefined || first >= index || !this.#tree.isInUse(first)) return [];
    const kept: Message[] = [];
    const reader = new RecordReader(this.#source);
    let bytes = 0;
    for (let at = first; at < index; at += 1) {
      if (!this.#tree.isInUse(at)) continue;
      const [start, end] = this.#tree.rangeOf(at);
      bytes += end - start;
      if (bytes > KEPT_BYTES_MAX) {
        this.#losses.approximate('compaction that kept too much to tell again: its summary alone', place);
        return [];
      }
      const record = await reader.read(start, end);
      if (record['type'] !== 'message' && record['type'] !== 'custom_message') continue;
      const message = this.#messageOf(record, new LossAccount(), place);
      if (message) kept.push(message);
    }
    return kept;
  }

  /** Sessions of the first version use record numbers instead of ids. */
  #firstKept(entry: JsonObject): number | undefined {
    const id = textField(entry, 'firstKeptEntryId');
    if (id !== undefined) return this.#tree.indexOf(id);
    const { firstKeptEntryIndex } = entry;
    return Number.isInteger(firstKeptEntryIndex) && Number(firstKeptEntryIndex) >= 0
      ? Number(firstKeptEntryIndex)
      : undefined;
  }
}

const OTHER_ENTRIES: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['thinking_level_change', 'change of the thinking level'],
  ['custom', 'state of an extension'],
  ['label', 'label'],
  ['session_info', 'title of the session'],
  ['ephemeral', 'context for one request'],
  ['context_transform', 'rewriting of the context by an extension'],
]);

function isCompaction(entry: JsonObject): boolean {
  return entry['type'] === 'compaction' || entry['type'] === 'compactionSummary';
}

function noSession(): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', 'The pi session contains no entries.', {
    details: { lookedFor: piImporter.lookedFor },
  });
}
