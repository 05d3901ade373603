/**
 * The first pass over a Claude Code session: the parent of each record, its calls and results, and the position of its
 * bytes. No texts are kept, so that the index of a large session fits into memory.
 */
import type { JsonObject } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { IdTable } from '../reading/id-table.js';
import { type JsonLine, readJsonLines } from '../reading/json-lines.js';
import { NumberColumn } from '../reading/number-column.js';
import { idText, objectField } from '../reading/record-fields.js';
import type { RecordReader } from '../reading/record-reader.js';
import type { TranscriptSource } from '../transcript.js';
import { PromptQueue } from './claude-code-queue.js';
import { callIdsOf, kindOf, RECORD_KIND, type RecordKind, unsaidNameOf } from './claude-code-record.js';

const NO_ID = -1;

export class SessionIndex {
  readonly uuids = new IdTable();
  readonly messages = new IdTable();
  readonly calls = new IdTable();
  readonly #kinds = NumberColumn.bytes();
  readonly #sides = NumberColumn.bytes();
  readonly #lines = NumberColumn.integers();
  readonly #starts = NumberColumn.offsets();
  readonly #lengths = NumberColumn.integers();
  readonly #parents = NumberColumn.integers();
  readonly #messages = NumberColumn.integers();
  readonly #callsFrom = NumberColumn.integers();
  readonly #calls = NumberColumn.integers();
  /** Entry of each uuid, by the uuid's number. */
  readonly #entries = NumberColumn.integers();

  get size(): number {
    return this.#kinds.length;
  }

  kindOf(entry: number): number {
    return this.#kinds.at(entry);
  }

  /** True for a record of a sub-agent, outside the main conversation. */
  isSide(entry: number): boolean {
    return this.#sides.at(entry) === 1;
  }

  lineOf(entry: number): number {
    return this.#lines.at(entry);
  }

  rangeOf(entry: number): { readonly start: number; readonly end: number } {
    const start = this.#starts.at(entry);
    return { start, end: start + this.#lengths.at(entry) };
  }

  /** Entry of the record's named parent; -1 if it names none, or if the parent is not in the file. */
  namedParentOf(entry: number): number {
    return this.#entries.at(this.#parents.at(entry));
  }

  /** Number of the answer that the record is part of; -1 for none. */
  messageOf(entry: number): number {
    return this.#messages.at(entry);
  }

  callsOf(entry: number): number[] {
    const from = this.#callsFrom.at(entry);
    const end = entry + 1 < this.size ? this.#callsFrom.at(entry + 1) : this.#calls.length;
    return Array.from({ length: end - from }, (_, offset) => this.#calls.at(from + offset));
  }

  entryOf(uuid: string): number {
    return this.#entries.at(this.uuids.find(uuid));
  }

  /** Turns an entry that is no longer needed into a mere link. */
  retire(entry: number): void {
    this.#kinds.set(entry, RECORD_KIND.link);
  }

  /** False for a duplicate record. */
  add(line: JsonLine, kind: RecordKind): boolean {
    const uuid = this.uuids.numberOf(idText(line.value['uuid']));
    while (this.#entries.length < this.uuids.size) this.#entries.push(NO_ID);
    const known = uuid < 0 ? NO_ID : this.#entries.at(uuid);
    const isSame = this.kindOf(known) === kind && this.#lengths.at(known) === line.end - line.start;
    if (known >= 0 && isSame) return false;
    const isNew = uuid >= 0 && known < 0;
    if (isNew) this.#entries.set(uuid, this.size);
    this.#push(line, kind, known >= 0 ? '' : parentIdOf(line.value));
    return true;
  }

  #push(line: JsonLine, kind: RecordKind, parent: string): void {
    this.#kinds.push(kind);
    this.#sides.push(line.value['isSidechain'] === true ? 1 : 0);
    this.#lines.push(line.line);
    this.#starts.push(line.start);
    this.#lengths.push(line.end - line.start);
    this.#parents.push(this.uuids.numberOf(parent));
    while (this.#entries.length < this.uuids.size) this.#entries.push(NO_ID);
    const isAnswer = kind === RECORD_KIND.answer;
    this.#messages.push(
      isAnswer ? this.messages.numberOf(idText(objectField(line.value, 'message')['id'])) : NO_ID,
    );
    this.#callsFrom.push(this.#calls.length);
    for (const id of callIdsOf(line.value)) this.#calls.push(this.calls.numberOf(id));
  }
}

/** After a compaction the chain starts again, and the record names the one that it continues. */
function parentIdOf(record: JsonObject): string {
  return idText(record['parentUuid']) || idText(record['logicalParentUuid']);
}

export async function indexSession(
  source: TranscriptSource,
  reader: RecordReader,
  losses: LossAccount,
): Promise<SessionIndex> {
  const index = new SessionIndex();
  const queue = new PromptQueue();
  for await (const line of readJsonLines(source.chunks(), losses)) {
    reader.remember(line);
    if (line.value['type'] === 'queue-operation') addQueued(line, index, queue, losses);
    else addRecord(line, index, queue, losses);
  }
  return index;
}

function addRecord(line: JsonLine, index: SessionIndex, queue: PromptQueue, losses: LossAccount): void {
  const kind = kindOf(line.value);
  const place = `line ${line.line}`;
  const isLink = kind === RECORD_KIND.link;
  if (isLink) losses.drop(unsaidNameOf(line.value), place);
  else if (line.value['isSidechain'] !== true) {
    for (const entry of queue.said(line.value)) index.retire(entry);
  }
  if (isLink && idText(line.value['uuid']) === '') return;
  if (!index.add(line, kind) && !isLink) losses.drop('record written twice', place);
}

function addQueued(line: JsonLine, index: SessionIndex, queue: PromptQueue, losses: LossAccount): void {
  losses.drop('queue operation', `line ${line.line}`);
  const { start, end, line: number } = line;
  const prompt = queue.apply(line.value, { start, end, line: number });
  if (!prompt) return;
  const { start: from, end: to } = prompt;
  queue.delivered(prompt.text, index.size);
  index.add({ value: {}, line: line.line, start: from, end: to }, RECORD_KIND.queueOperation);
}
