/** The second pass over a Claude Code session: reads the planned records and yields their messages. */
import type { Message } from '../../message.js';
import { LossAccount } from '../loss-account.js';
import { keepMessage } from '../reading/keep-message.js';
import { OpenCalls } from '../reading/open-calls.js';
import { textField } from '../reading/record-fields.js';
import type { RecordReader } from '../reading/record-reader.js';
import type { TranscriptItem } from '../transcript.js';
import type { SessionIndex } from './claude-code-index.js';
import { keptEntries } from './claude-code-kept.js';
import {
  answerFromRecords,
  isInterrupt,
  keptMessages,
  type PlacedRecord,
  queuedPromptFrom,
  summaryFrom,
  userMessagesFromRecord,
} from './claude-code-messages.js';
import type { ReadingPlan } from './claude-code-plan.js';
import { RECORD_KIND } from './claude-code-record.js';

const NO_SUMMARY = 'compaction whose summary is not here, passed over';

export class SessionReading {
  readonly #index: SessionIndex;
  readonly #plan: ReadingPlan;
  readonly #reader: RecordReader;
  readonly #losses: LossAccount;
  readonly #openCalls = new OpenCalls();
  /** A compaction whose summary is still to come. */
  #boundary: PlacedRecord | undefined;
  /** The last answer, held back until it is known whether the user stopped it. */
  #answer: (TranscriptItem & { readonly kind: 'message' }) | undefined;

  constructor(index: SessionIndex, plan: ReadingPlan, reader: RecordReader, losses: LossAccount) {
    this.#index = index;
    this.#plan = plan;
    this.#reader = reader;
    this.#losses = losses;
  }

  async *items(): AsyncGenerator<TranscriptItem> {
    for (const entry of this.#plan.order()) {
      for (const item of await this.#itemsOf(entry)) yield* this.#inOrder(item);
    }
    if (this.#answer) yield this.#answer;
    this.#missSummary();
  }

  *#inOrder(item: TranscriptItem): Generator<TranscriptItem> {
    const before = this.#answer;
    this.#answer = undefined;
    const isStopped = item.kind === 'message' && isInterrupt(item.message);
    if (before) yield isStopped ? { ...before, message: { ...before.message, status: 'aborted' } } : before;
    if (item.kind === 'message' && item.message.role === 'assistant') this.#answer = item;
    else yield item;
  }

  async #itemsOf(entry: number): Promise<readonly TranscriptItem[]> {
    const kind = this.#index.kindOf(entry);
    if (kind === RECORD_KIND.link || kind === RECORD_KIND.failed) return [];
    const placed = await this.#read(entry);
    if (kind === RECORD_KIND.compaction) return this.#begin(placed);
    if (kind === RECORD_KIND.summary) return [await this.#compaction(placed)];
    if (kind === RECORD_KIND.microcompaction) {
      this.#losses.approximate('tool results taken out of the context by the tool, here whole', placed.place);
      return [];
    }
    this.#missSummary();
    const messages = await this.#messagesOf(entry, kind, placed);
    for (const message of messages) keepMessage(message, this.#losses);
    return messages.map((message) => ({ kind: 'message', message, ...timeOf(placed) }));
  }

  async #messagesOf(entry: number, kind: number, placed: PlacedRecord): Promise<Message[]> {
    if (kind === RECORD_KIND.answer) {
      const lines: PlacedRecord[] = [];
      for (const line of this.#plan.linesOf(entry))
        lines.push(line === entry ? placed : await this.#read(line));
      return [answerFromRecords(lines, this.#openCalls, this.#losses)];
    }
    const isQueued = kind === RECORD_KIND.queuedPrompt || kind === RECORD_KIND.queueOperation;
    return (isQueued ? queuedPromptFrom : userMessagesFromRecord)(placed, this.#openCalls, this.#losses);
  }

  #begin(boundary: PlacedRecord): readonly TranscriptItem[] {
    this.#missSummary();
    this.#boundary = boundary;
    return [];
  }

  #missSummary(): void {
    if (this.#boundary) this.#losses.approximate(NO_SUMMARY, this.#boundary.place);
    this.#boundary = undefined;
  }

  async #compaction(placed: PlacedRecord): Promise<TranscriptItem> {
    const summary = summaryFrom(placed, this.#openCalls, this.#losses);
    keepMessage(summary, this.#losses);
    const entries = this.#boundary ? keptEntries(this.#boundary.record, this.#index) : [];
    this.#boundary = undefined;
    const records: PlacedRecord[] = [];
    for (const entry of entries) records.push(await this.#read(entry));
    // They were already read and accounted for at their original place.
    const kept = keptMessages(records, new OpenCalls(), new LossAccount());
    return { kind: 'compaction', messages: [summary, ...kept], ...timeOf(placed) };
  }

  async #read(entry: number): Promise<PlacedRecord> {
    const { start, end } = this.#index.rangeOf(entry);
    return { record: await this.#reader.read(start, end), place: `line ${this.#index.lineOf(entry)}` };
  }
}

function timeOf({ record }: PlacedRecord): { readonly ts?: number } {
  const milliseconds = Date.parse(textField(record, 'timestamp') ?? '');
  return Number.isNaN(milliseconds) ? {} : { ts: milliseconds / 1000 };
}
