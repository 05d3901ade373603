/**
 * What a model streams before its answer is complete.
 *
 * A part is durable before anyone reads it. Once the whole answer is in the traces, its parts have no further use: they are
 * removed from time to time. After a crash in the middle of an answer, a restore puts together what had been delivered.
 *
 * Stored in `answer_parts.jsonl`.
 */
import type { Clock } from '../../core/clock.js';
import { newId } from '../../core/ids.js';
import { isJsonObject, type JsonObject, textOr } from '../../core/json.js';
import type { Message, Origin } from '../../messages/message.js';
import { isOrigin } from '../../messages/message-serializer.js';
import type { Journal } from '../../storage/ports.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';
import type { TraceLog } from '../trace-log.js';
import type { MemoryStore } from './memory-store.js';
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

interface AnswerStart {
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
  /** Durable when it resolves. @throws as `Journal.append` */
  write(part: AnswerPart): Promise<void>;
}

/** The parts of an agent's answers. Part of `MemoryManager`. */
export class AnswerParts {
  readonly #log: TraceLog;
  readonly #store: MemoryStore;
  readonly #clock: Clock;
  /** Number of the first record since the last turn, and of the last one. */
  #written = { first: 0, last: 0 };

  constructor(log: TraceLog, store: MemoryStore, clock: Clock) {
    this.#log = log;
    this.#store = store;
    this.#clock = clock;
  }

  /** Sequence number of the last trace; 0 if there is none. */
  get lastTrace(): number {
    return this.#log.head.seq;
  }

  /**
   * For an answer that somebody reads while the model writes it. Record the whole answer under the writer's `messageId`. Writes
   * nothing yet.
   */
  begin(turnId: string, origin: Origin | null): PartWriter {
    const add = async (row: JsonObject) => {
      const journal = await this.#store.journal('answer_parts'); // made with the first part
      const { seq } = await journal.append([row]);
      this.#written = { first: this.#written.first || seq, last: seq };
    };
    const start = { turnId, after: this.lastTrace, origin };
    return new StreamedAnswer(start, add, this.#store.backend.redactor ?? null, this.#clock);
  }

  /** For the restore: records answers that were delivered and not recorded. In a read-only store in memory only. */
  async keep(answers: readonly { readonly turnId: string; readonly message: Message }[]): Promise<void> {
    for (const { turnId, message } of answers)
      await this.#log.appendRepair(turnId, [{ type: 'assistant', message, sourceEvent: 'Restore' }]);
  }

  /** Removes old parts if many were added. Call it when the answers of a turn are recorded. */
  async removeOld(): Promise<void> {
    const { first, last } = this.#written;
    this.#written = { first: 0, last: 0 };
    if (last === 0 || Math.floor(first / REMOVE_EVERY) === Math.floor((last + 1) / REMOVE_EVERY)) return;
    await (await this.#store.journal('answer_parts')).removeBefore(last + 1);
  }
}

class StreamedAnswer implements PartWriter {
  readonly #add: (row: JsonObject) => Promise<void>;
  readonly #redactor: StorageRedactor | null;
  readonly #clock: Clock;
  #start: AnswerStart;
  #pieces: RedactedPieces | null;
  messageId: string;
  /** Its first part is stored. */
  #isBegun = false;

  constructor(
    start: AnswerStart,
    add: (row: JsonObject) => Promise<void>,
    redactor: StorageRedactor | null,
    clock: Clock,
  ) {
    this.#start = start;
    this.#add = add;
    this.#redactor = redactor;
    this.#clock = clock;
    this.#pieces = redactor && new RedactedPieces(redactor);
    this.messageId = newId('msg', clock.nowMs());
  }

  get byLines(): boolean {
    return this.#redactor !== null;
  }

  async write(part: AnswerPart): Promise<void> {
    if (part.begins !== undefined) return this.#next(part.begins);
    if (part.discarded) {
      if (this.#isBegun) await this.#record({ discarded: true });
      this.#pieces = this.#redactor && new RedactedPieces(this.#redactor);
      return;
    }
    const fields = this.#pieces ? this.#pieces.next(part) : { ...part };
    if (Object.keys(fields).length > 0) await this.#record(fields as JsonObject);
  }

  #next(after: number): void {
    this.#start = { ...this.#start, after };
    this.#pieces = this.#redactor && new RedactedPieces(this.#redactor);
    this.messageId = newId('msg', this.#clock.nowMs());
    this.#isBegun = false;
  }

  async #record(fields: JsonObject): Promise<void> {
    const { turnId, after, origin } = this.#start;
    const begins: JsonObject = this.#isBegun
      ? {}
      : { ts: this.#clock.nowMs() / 1000, after, ...(origin ? { origin: { ...origin } as JsonObject } : {}) };
    await this.#add({ message_id: this.messageId, turn_id: turnId, ...begins, ...fields });
    this.#isBegun = true;
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
