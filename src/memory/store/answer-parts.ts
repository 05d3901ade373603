/**
 * What a model streams before its answer is complete.
 *
 * A part is durable before anyone reads it. Once the whole answer is in the traces, its parts have no further use: they are
 * removed from time to time. After a crash in the middle of an answer, a restore puts together what had been delivered.
 *
 * Stored in `answer_parts.jsonl`.
 */
import { newId } from '../../core/ids.js';
import { isJsonObject, type JsonObject, textOr } from '../../core/json.js';
import type { Origin } from '../../messages/message.js';
import { isOrigin } from '../../messages/message-serializer.js';
import type { Journal } from '../../storage/ports.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';
import { RedactedPieces } from './redacted-pieces.js';

/** Records between two removals of old parts. */
const REMOVE_EVERY = 512;

/** A piece of a stream. */
export interface AnswerPart {
  readonly text?: string;
  readonly reasoning?: string;
  /** The model is asked again: readers discard what this answer said so far. */
  readonly discarded?: true;
  /** A new answer begins, after this trace. */
  readonly begins?: number;
}

/** An answer, as far as its parts are stored. */
export interface StoredAnswer {
  readonly messageId: string;
  readonly turnId: string;
  /** Sequence number of the last trace when the answer began. */
  readonly after: number;
  readonly origin: Origin | null;
  readonly text: string;
}

/** What identifies the answer that a stream gives. */
export interface AnswerStart {
  readonly turnId: string;
  readonly after: number;
  readonly origin: Origin | null;
}

/** Writes the parts of one stream. */
export interface PartWriter {
  /** Under which the whole answer must be recorded. Changes when an answer begins. */
  readonly messageId: string;
  /** Parts must end at the ends of lines: the store is redacted, and a secret that is cut in two would not be found. */
  readonly byLines: boolean;
  /** Something was written, so that somebody may have read it. */
  readonly isBegun: boolean;
  /** Durable when it resolves. @throws as `Journal.append` */
  write(part: AnswerPart): Promise<void>;
}

/** The parts of an agent's answers. */
export class AnswerParts {
  readonly #journal: () => Promise<Journal<JsonObject>>;
  readonly #redactor: StorageRedactor | null;
  readonly #nowMs: () => number;
  /** Number of the first record of the last stream, and of its last one. */
  #written = { first: 0, last: 0 };

  /** @param journal opened at the first part: an agent whose answers nobody streams has no such file */
  constructor(
    journal: () => Promise<Journal<JsonObject>>,
    redactor: StorageRedactor | null,
    nowMs: () => number,
  ) {
    this.#journal = journal;
    this.#redactor = redactor;
    this.#nowMs = nowMs;
  }

  /** Writes nothing yet. */
  begin(start: AnswerStart): PartWriter {
    const add = async (row: JsonObject) => {
      const { seq } = await (await this.#journal()).append([row]);
      this.#written = { first: this.#written.first || seq, last: seq };
    };
    return new StreamedAnswer(start, add, this.#redactor, this.#nowMs);
  }

  /** Removes old parts if many were added. Call it when the answers of a turn are recorded. */
  async removeOld(): Promise<void> {
    const { first, last } = this.#written;
    this.#written = { first: 0, last: 0 };
    if (last === 0 || Math.floor(first / REMOVE_EVERY) === Math.floor((last + 1) / REMOVE_EVERY)) return;
    await (await this.#journal()).removeBefore(last + 1);
  }
}

class StreamedAnswer implements PartWriter {
  readonly #add: (row: JsonObject) => Promise<void>;
  readonly #redactor: StorageRedactor | null;
  readonly #nowMs: () => number;
  #start: AnswerStart;
  #pieces: RedactedPieces | null;
  messageId: string;
  isBegun = false;

  constructor(
    start: AnswerStart,
    add: (row: JsonObject) => Promise<void>,
    redactor: StorageRedactor | null,
    nowMs: () => number,
  ) {
    this.#start = start;
    this.#add = add;
    this.#redactor = redactor;
    this.#nowMs = nowMs;
    this.#pieces = redactor && new RedactedPieces(redactor);
    this.messageId = newId('msg', nowMs());
  }

  get byLines(): boolean {
    return this.#redactor !== null;
  }

  async write(part: AnswerPart): Promise<void> {
    if (part.begins !== undefined) return this.#next(part.begins);
    if (part.discarded) {
      if (this.isBegun) await this.#record({ discarded: true });
      this.#pieces = this.#redactor && new RedactedPieces(this.#redactor);
      return;
    }
    const fields = this.#pieces ? this.#pieces.next(part) : { ...part };
    if (Object.keys(fields).length > 0) await this.#record(fields as JsonObject);
  }

  #next(after: number): void {
    this.#start = { ...this.#start, after };
    this.#pieces = this.#redactor && new RedactedPieces(this.#redactor);
    this.messageId = newId('msg', this.#nowMs());
    this.isBegun = false;
  }

  async #record(fields: JsonObject): Promise<void> {
    const { turnId, after, origin } = this.#start;
    const begins: JsonObject = this.isBegun
      ? {}
      : { ts: this.#nowMs() / 1000, after, ...(origin ? { origin: { ...origin } as JsonObject } : {}) };
    this.isBegun = true;
    await this.#add({ message_id: this.messageId, turn_id: turnId, ...begins, ...fields });
  }
}

/** The answers whose first part is stored after the trace `after`, oldest first. */
export async function answersSince(journal: Journal<JsonObject>, after: number): Promise<StoredAnswer[]> {
  const rows: JsonObject[] = [];
  for await (const entry of journal.readBackward()) {
    if (entry.kind !== 'record') continue;
    if (typeof entry.record['after'] === 'number' && entry.record['after'] < after) break;
    rows.push(entry.record);
  }
  const answers = new Map<string, StoredAnswer>();
  for (const row of rows.reverse()) addRow(answers, row);
  return [...answers.values()];
}

/** A row without a beginning, because that was damaged, belongs to no answer that can be placed. */
function addRow(answers: Map<string, StoredAnswer>, row: JsonObject): void {
  const messageId = textOr(row['message_id']);
  const known = answers.get(messageId);
  if (!known && typeof row['after'] !== 'number') return;
  const origin = row['origin'];
  const answer = known ?? {
    messageId,
    turnId: textOr(row['turn_id']),
    after: row['after'] as number,
    origin: isJsonObject(origin) && isOrigin(origin) ? origin : null,
    text: '',
  };
  const before = row['discarded'] === true || row['replaces'] === true ? '' : answer.text;
  answers.set(messageId, { ...answer, text: `${before}${textOr(row['text'])}` });
}
