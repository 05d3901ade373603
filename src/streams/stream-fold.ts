/** What a process knows of one stream: its state, its newest pieces, and where in the journal older ones are. */
import { RekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { followFrom, JOURNAL_START } from '../storage/journal-position.js';
import type { Cursor, Journal, JournalHead, JournalRecord } from '../storage/ports.js';
import type { JournalFold } from '../storage/shared-journal.js';
import { piecesOf, type StreamPiece, sizeOf } from './stream-pieces.js';
import { decodeRecord } from './stream-record.js';
import { applyOp, type StreamState } from './stream-state.js';

/** Where a record is. */
export interface StreamMark {
  readonly start: number;
  readonly seq: number;
  readonly cursor: Cursor;
}

/** One mark for about so many bytes: a reading starts at one. */
const MARK_BYTES = 64 * 1024;
/** Newest content that is kept at hand, so that many readers at the end cost one reading of the journal. */
const RECENT_BYTES = 128 * 1024;

export class StreamFold implements JournalFold<JsonObject> {
  readonly #onNews: () => void;
  #state: StreamState | null = null;
  #marks: StreamMark[] = [];
  #sinceMark = 0;
  #recent: { readonly piece: StreamPiece; readonly size: number }[] = [];
  #recentSize = 0;
  #lostAtEnd = 0;
  #ends: readonly number[] = [];

  /** @param onNews called after each record, and when the stream was read again */
  constructor(onNews: () => void) {
    this.#onNews = onNews;
  }

  get state(): StreamState | null {
    return this.#state;
  }

  /** Where the next record begins: damaged bytes at the end may have been content, and no position is used twice. */
  get nextFrom(): number {
    return (this.#state?.tail ?? 0) + this.#lostAtEnd;
  }

  /** The position after each operation of the last record. */
  get ends(): readonly number[] {
    return this.#ends;
  }

  async load(journal: Journal<JsonObject>): Promise<JournalHead> {
    this.#forget();
    const head = await followFrom(journal, JOURNAL_START, (entry) => this.#take(entry));
    this.#onNews();
    return head ?? JOURNAL_START;
  }

  apply(entry: JournalRecord<JsonObject>): void {
    this.#take(entry);
    this.#onNews();
  }

  endDamaged(bytes: number): void {
    this.#lostAtEnd = bytes;
  }

  /** The last mark at or before a position; undefined: read from the beginning. */
  markAt(position: number): StreamMark | undefined {
    return this.#marks.findLast(({ start }) => start <= position);
  }

  /** The pieces from a position on, if all of them are at hand; else null. */
  recentFrom(position: number): readonly StreamPiece[] | null {
    const first = this.#recent[0];
    if (!first || first.piece.start > position) return null;
    return this.#recent.map(({ piece }) => piece).filter(({ end }) => end > position);
  }

  #forget(): void {
    this.#state = null;
    this.#marks = [];
    this.#sinceMark = 0;
    this.#recent = [];
    this.#recentSize = 0;
    this.#lostAtEnd = 0;
    this.#ends = [];
  }

  #take(entry: JournalRecord<JsonObject>): void {
    const record = decodeRecord(entry.record);
    if (this.#state) {
      if (record.from < this.#state.tail) throw outOfOrder(entry.seq);
      this.#state.tail = record.from;
    }
    this.#lostAtEnd = 0;
    this.#ends = record.ops.map((op) => {
      this.#state = applyOp(this.#state, op, record.atMs);
      return this.#state.tail;
    });
    this.#keep(entry, piecesOf(record));
  }

  #keep({ seq, cursor }: JournalRecord<JsonObject>, pieces: readonly StreamPiece[]): void {
    const first = pieces[0];
    if (first && (this.#marks.length === 0 || this.#sinceMark >= MARK_BYTES)) {
      this.#marks.push({ start: first.start, seq, cursor });
      this.#sinceMark = 0;
    }
    for (const piece of pieces) {
      const size = sizeOf(piece.payload);
      this.#sinceMark += size;
      this.#recent.push({ piece, size });
      this.#recentSize += size;
    }
    while (this.#recentSize > RECENT_BYTES && this.#recent.length > 1)
      this.#recentSize -= this.#recent.shift()!.size;
  }
}

function outOfOrder(seq: number): RekindleError {
  return new RekindleError(
    'JOURNAL_DAMAGED',
    `Record ${seq} of a stream begins before the one before it ends.`,
    {
      details: { seq },
    },
  );
}
