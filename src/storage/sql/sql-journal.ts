/** A journal as rows: a stream with a head, and one row per record. */
import { randomBytes } from 'node:crypto';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { AppendQueue, conflict, type Waiting } from '../append-queue.js';
import type {
  AppendOptions,
  AppendResult,
  Journal,
  JournalEntry,
  JournalHead,
  ReadOptions,
  SegmentRepair,
} from '../ports.js';
import { type EncodedRecord, encodeRecord } from '../record-encoding.js';
import { EMPTY_HEAD, type NewRecord, type SqlEngine, type StreamHead } from './sql-engine.js';
import type { SqlLease } from './sql-leases.js';
import { cursorAt, entryOf, gapAt, newRecord } from './sql-record.js';

export interface SqlJournalOptions {
  readonly key: string;
  /** Null for a reader. */
  readonly lease: SqlLease | null;
  readonly gatherMs: number;
  readonly onClose: () => Promise<void>;
}

/** An append whose answer was lost. */
interface Unsure {
  readonly appendKey: string;
  readonly before: StreamHead;
  readonly after: StreamHead;
}

const PAGE_RECORDS = 1_000;

export class SqlJournal<R extends JsonObject> implements Journal<R> {
  readonly #engine: SqlEngine;
  readonly #options: SqlJournalOptions;
  readonly #queue: AppendQueue<EncodedRecord>;
  #head: StreamHead;
  #unsure: Unsure | null = null;

  /** @throws LEASE_LOST */
  static async open<R extends JsonObject>(
    engine: SqlEngine,
    options: SqlJournalOptions,
  ): Promise<SqlJournal<R>> {
    const { key, lease } = options;
    if (!lease) return new SqlJournal<R>(engine, options, EMPTY_HEAD);
    lease.throwUnlessHeld();
    const head = await engine.run('openStream', { key, lease: lease.ref });
    if (head === 'fenced') throw lease.markLost();
    return new SqlJournal<R>(engine, options, head);
  }

  constructor(engine: SqlEngine, options: SqlJournalOptions, head: StreamHead) {
    this.#engine = engine;
    this.#options = options;
    this.#head = head;
    this.#queue = new AppendQueue({
      headSeq: () => this.#head.seq,
      commit: (batch) => this.#commit(batch),
      gatherMs: options.gatherMs,
    });
  }

  append(records: readonly R[], options: AppendOptions = {}): Promise<AppendResult> {
    try {
      this.#writer();
      if (records.length === 0)
        throw new RekindleError('INVALID_ARGUMENT', 'An append needs at least one record.');
      const encoded = records.map(encodeRecord);
      const bytes = encoded.reduce((sum, record) => sum + record.body.length, 0);
      return this.#queue.push(encoded, bytes, options);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  /** @throws JOURNAL_CLOSED for a reader */
  #writer(): SqlLease {
    if (this.#options.lease) return this.#options.lease;
    throw new RekindleError('JOURNAL_CLOSED', 'The journal was opened for reading only.');
  }

  async #commit(batch: readonly Waiting<EncodedRecord>[]): Promise<AppendResult[]> {
    const lease = this.#writer();
    lease.throwUnlessHeld();
    if (this.#unsure) await this.#settle(this.#unsure, batch);
    const before = this.#head;
    let { seq, crc } = before;
    const records: NewRecord[] = [];
    const results = batch.map((waiting) => {
      for (const record of waiting.records) {
        seq += 1;
        const made = newRecord(record, seq);
        crc = made.crc;
        records.push(made);
      }
      return { seq, cursor: cursorAt(seq), crc: crc ?? '' };
    });
    const attempt = { appendKey: newAppendKey(), before, after: { ...before, seq, crc } };
    if ((await this.#append(lease, records, attempt)) === 'conflict') {
      // A record that was still in transit during the lookup may have arrived since.
      if (this.#unsure && (await this.#settle(this.#unsure, batch))) return this.#commit(batch);
      throw await this.#conflict(before.seq);
    }
    this.#head = attempt.after;
    this.#unsure = null;
    return results;
  }

  async #append(
    lease: SqlLease,
    records: readonly NewRecord[],
    { appendKey, before, after }: Unsure,
  ): Promise<'appended' | 'conflict'> {
    const { key } = this.#options;
    const request = { key, lease: lease.ref, expectedSeq: before.seq, records, appendKey };
    const started = performance.now();
    const answer = await this.#engine.run('append', request).catch((thrown: unknown) => {
      if (isRekindleError(thrown, 'JOURNAL_OUTCOME_UNKNOWN')) this.#unsure = { appendKey, before, after };
      throw thrown;
    });
    if (answer === 'fenced') throw lease.markLost();
    if (answer === 'appended') lease.noteHeld(started);
    return answer;
  }

  /**
   * Determines the outcome of an append whose answer was lost. True if the record is stored. If it is not, it may still
   * arrive: only an append in its place prevents that.
   */
  async #settle(unsure: Unsure, batch: readonly Waiting<EncodedRecord>[]): Promise<boolean> {
    const { key } = this.#options;
    const seq = unsure.before.seq + 1;
    if ((await this.#engine.run('findAppend', { key, seq })) !== unsure.appendKey) return false;
    this.#head = { ...this.#head, seq: unsure.after.seq, crc: unsure.after.crc };
    this.#unsure = null;
    const relied = batch.some(({ options }) => options.expectedSeq !== undefined);
    if (relied) throw await this.#conflict(unsure.before.seq);
    return true;
  }

  /** Returns the error to throw. Another writer used the same lease: the next append continues from there. */
  async #conflict(expectedSeq: number): Promise<RekindleError> {
    const head = await this.#engine.run('readHead', { key: this.#options.key });
    this.#head = head ?? EMPTY_HEAD;
    return conflict(expectedSeq, this.#head.seq);
  }

  async *read(options: ReadOptions = {}): AsyncGenerator<JournalEntry<R>> {
    const { cursor, limit = Number.POSITIVE_INFINITY, archived = false } = options;
    if (cursor && cursor.segment !== 0) {
      throw new RekindleError('INVALID_ARGUMENT', 'The cursor points into a segment that is not there.');
    }
    const start = options.after ?? (cursor ? cursor.offset - 1 : 0);
    if (limit > 0) yield* this.#forward(start, limit, archived);
  }

  async *#forward(start: number, limit: number, archived: boolean): AsyncGenerator<JournalEntry<R>> {
    let after = start;
    let upTo = Number.MAX_SAFE_INTEGER;
    let left = limit;
    for (let first = true; ; first = false) {
      const page = await this.#page({ after, upTo, backward: false, archived, limit: left });
      if (!page.head) return;
      if (first) {
        upTo = page.head.seq; // otherwise a fast writer would keep the reader busy forever
        after = Math.max(after, archived ? page.head.removedTo : page.head.archivedTo);
      }
      for (const stored of page.records) {
        if (stored.seq > after + 1) yield gapAt(after + 1, this.#placeOf(after + 1));
        after = stored.seq;
        left -= 1;
        const entry = entryOf<R>(stored, this.#placeOf(stored.seq));
        if (entry) yield entry;
      }
      if (page.last || left <= 0) {
        if (left > 0 && after < upTo) yield gapAt(after + 1, this.#placeOf(after + 1));
        return;
      }
    }
  }

  async *readBackward(): AsyncGenerator<JournalEntry<R>> {
    let upTo: number | null = null;
    for (let limit = 1; ; limit = PAGE_RECORDS) {
      const range = { after: 0, upTo: upTo ?? Number.MAX_SAFE_INTEGER };
      const page = await this.#page({ ...range, backward: true, archived: false, limit });
      if (!page.head) return;
      upTo ??= page.head.seq;
      for (const stored of page.records) {
        if (stored.seq < upTo) yield gapAt(stored.seq + 1, this.#placeOf(stored.seq + 1));
        upTo = stored.seq - 1;
        const entry = entryOf<R>(stored, this.#placeOf(stored.seq));
        if (entry) yield entry;
      }
      if (page.last) {
        if (upTo > page.head.archivedTo)
          yield gapAt(page.head.archivedTo + 1, this.#placeOf(page.head.archivedTo + 1));
        return;
      }
    }
  }

  #page(range: {
    readonly after: number;
    readonly upTo: number;
    readonly backward: boolean;
    readonly archived: boolean;
    readonly limit: number;
  }) {
    const limit = Math.min(range.limit, PAGE_RECORDS);
    return this.#engine.run('readRecords', { key: this.#options.key, ...range, limit });
  }

  #placeOf(seq: number): string {
    return `${this.#options.key}#${seq}`;
  }

  async head(): Promise<JournalHead> {
    const { lease, key } = this.#options;
    if (this.#unsure) await this.#settle(this.#unsure, []);
    const head = lease ? this.#head : ((await this.#engine.run('readHead', { key })) ?? EMPTY_HEAD);
    return head.seq === 0 || head.crc === null
      ? { seq: head.seq, cursor: null, crc: null }
      : { seq: head.seq, cursor: cursorAt(head.seq), crc: head.crc };
  }

  openingDamage(): readonly [] {
    return [];
  }

  archiveBefore(seq: number): Promise<void> {
    return this.#setAside(seq, false);
  }

  removeBefore(seq: number): Promise<void> {
    return this.#setAside(seq, true);
  }

  async #setAside(seq: number, remove: boolean): Promise<void> {
    const lease = this.#writer();
    await this.#queue.exclusive(async () => {
      lease.throwUnlessHeld();
      const archivedTo = Math.max(this.#head.archivedTo, Math.min(seq - 1, this.#head.seq));
      const request = { key: this.#options.key, lease: lease.ref, archivedTo, remove };
      const head = await this.#engine.run('setRecordsAside', request);
      if (head === 'fenced') throw lease.markLost();
      this.#head = { ...head, seq: this.#head.seq, crc: this.#head.crc };
    });
  }

  /** Readable records were committed, and a commit is synced. */
  async secure(): Promise<void> {
    await this.#writer().check();
  }

  async continueAfter(seq: number): Promise<void> {
    const lease = this.#writer();
    await this.#queue.exclusive(async () => {
      lease.throwUnlessHeld();
      const { key } = this.#options;
      const answer = await this.#engine.run('continueStream', { key, lease: lease.ref, after: seq });
      if (answer === 'fenced') throw lease.markLost();
      if (answer === 'conflict') throw await this.#conflict(0);
      this.#head = { seq, crc: null, archivedTo: seq, removedTo: seq };
    });
  }

  async repair(): Promise<SegmentRepair[]> {
    const lease = this.#writer();
    return this.#queue.exclusive(async () => {
      const seqs = await this.#damaged();
      if (seqs.length === 0) return [];
      const { key } = this.#options;
      const answer = await this.#engine.run('replaceRecords', { key, lease: lease.ref, seqs });
      if (answer === 'fenced') throw lease.markLost();
      return [{ place: key, kept: 'damaged_records', ranges: seqs.length, bytesBeyondSeal: 0 }];
    });
  }

  async erase(seqs: readonly number[]): Promise<number> {
    const lease = this.#writer();
    return this.#queue.exclusive(async () => {
      lease.throwUnlessHeld();
      const damaged = await this.#damaged();
      const { key } = this.#options;
      const all = [...new Set([...seqs, ...damaged])].filter((seq) => seq >= 1 && seq <= this.#head.seq);
      let records = 0;
      for (let at = 0; at < Math.max(1, all.length); at += PAGE_RECORDS) {
        const request = { key, lease: lease.ref, seqs: all.slice(at, at + PAGE_RECORDS) };
        const answer = await this.#engine.run('eraseRecords', request);
        if (answer === 'fenced') throw lease.markLost();
        records += answer;
      }
      const head = await this.#engine.run('readHead', { key });
      this.#head = head ?? this.#head;
      return records;
    });
  }

  /** The numbers of all damaged or missing records. */
  async #damaged(): Promise<number[]> {
    const seqs: number[] = [];
    let gap: number | null = null;
    const endGap = (before: number) => {
      for (let seq = gap ?? before; seq < before; seq += 1) seqs.push(seq);
      gap = null;
    };
    for await (const entry of this.#forward(0, Number.POSITIVE_INFINITY, true)) {
      endGap(entry.cursor.offset);
      if (entry.kind === 'damage' && entry.reason === 'sequence-gap') gap = entry.cursor.offset;
      else if (entry.kind === 'damage') seqs.push(entry.cursor.offset);
    }
    endGap(this.#head.seq + 1);
    return seqs;
  }

  async close(): Promise<void> {
    await this.#queue.close();
    await this.#options.onClose();
  }
}

function newAppendKey(): string {
  return randomBytes(12).toString('base64url');
}
