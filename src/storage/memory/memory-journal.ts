/** A journal in memory. Records are stored as text, so each read returns a fresh copy, as from a disk. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { AppendQueue, conflict, type Waiting } from '../append-queue.js';
import type {
  AppendOptions,
  AppendResult,
  Journal,
  JournalEntry,
  JournalHead,
  Lease,
  ReadOptions,
} from '../ports.js';
import { type EncodedRecord, encodeLineEnd, encodeRecord } from '../record-encoding.js';

interface Stored {
  /** Null after it was removed: its number is not reused. */
  readonly text: string | null;
  /** Null if it was never here. */
  readonly crc: string | null;
}

export class MemoryJournalData {
  readonly records: Stored[] = [];
  /** Records with a number up to this are archived. */
  archivedTo = 0;
  removedTo = 0;

  get lastSeq(): number {
    return this.records.length;
  }

  clear(): void {
    this.records.length = 0;
    this.archivedTo = 0;
    this.removedTo = 0;
  }
}

export interface MemoryJournalOptions {
  readonly lease: Lease | null;
  readonly readOnly: boolean;
  readonly place: string;
  readonly onAppend: () => void;
  readonly onClose: () => Promise<void>;
}

export class MemoryJournal<R extends JsonObject> implements Journal<R> {
  readonly #data: MemoryJournalData;
  readonly #options: MemoryJournalOptions;
  readonly #queue: AppendQueue<EncodedRecord>;

  constructor(data: MemoryJournalData, options: MemoryJournalOptions) {
    this.#data = data;
    this.#options = options;
    this.#queue = new AppendQueue({
      headSeq: () => data.lastSeq,
      commit: (batch) => this.#commit(batch),
      gatherMs: 0,
    });
  }

  append(records: readonly R[], options: AppendOptions = {}): Promise<AppendResult> {
    try {
      if (this.#options.readOnly)
        throw new RekindleError('JOURNAL_CLOSED', 'The journal was opened for reading only.');
      if (records.length === 0)
        throw new RekindleError('INVALID_ARGUMENT', 'An append needs at least one record.');
      return this.#queue.push(records.map(encodeRecord), 0, options);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  async #commit(batch: readonly Waiting<EncodedRecord>[]): Promise<AppendResult[]> {
    await this.#options.lease?.check();
    const results = batch.map((waiting) => {
      for (const record of waiting.records) {
        const { crc } = encodeLineEnd(record, this.#data.lastSeq + 1);
        this.#data.records.push({ text: `${record.body.toString('utf8')}}`, crc });
      }
      return this.#resultAt(this.#data.lastSeq);
    });
    this.#options.onAppend();
    return results;
  }

  #resultAt(seq: number): AppendResult {
    return { seq, cursor: { segment: 1, offset: seq - 1 }, crc: this.#data.records[seq - 1]!.crc ?? '' };
  }

  #entry(seq: number): JournalEntry<R> {
    const { text, crc } = this.#data.records[seq - 1]!;
    return {
      kind: 'record',
      seq,
      record: JSON.parse(text ?? 'null') as R,
      cursor: { segment: 1, offset: seq - 1 },
      crc,
    };
  }

  async *read(options: ReadOptions = {}): AsyncGenerator<JournalEntry<R>> {
    if (options.cursor && options.cursor.segment !== 1) {
      throw new RekindleError('INVALID_ARGUMENT', 'The cursor points into a segment that is not there.');
    }
    const first = Math.max(
      options.after ?? 0,
      options.cursor?.offset ?? 0,
      options.archived ? this.#data.removedTo : this.#data.archivedTo,
    );
    const last = Math.min(this.#data.lastSeq, first + (options.limit ?? Number.POSITIVE_INFINITY));
    for (let seq = first + 1; seq <= last; seq += 1) if (this.#isThere(seq)) yield this.#entry(seq);
  }

  #isThere(seq: number): boolean {
    return typeof this.#data.records[seq - 1]?.text === 'string';
  }

  async *readBackward(): AsyncGenerator<JournalEntry<R>> {
    for (let seq = this.#data.lastSeq; seq > this.#data.archivedTo; seq -= 1)
      if (this.#isThere(seq)) yield this.#entry(seq);
  }

  async head(): Promise<JournalHead> {
    const seq = this.#data.lastSeq;
    if (!this.#data.records.at(-1)?.crc || !this.#isThere(seq)) return { seq, cursor: null, crc: null };
    return this.#resultAt(seq);
  }

  openingDamage(): readonly [] {
    return [];
  }

  archiveBefore(seq: number): Promise<void> {
    return this.#setAside(seq, () => {});
  }

  removeBefore(seq: number): Promise<void> {
    return this.#setAside(seq, () => {
      for (; this.#data.removedTo < this.#data.archivedTo; this.#data.removedTo += 1) {
        const { crc } = this.#data.records[this.#data.removedTo]!;
        this.#data.records[this.#data.removedTo] = { text: null, crc };
      }
    });
  }

  async #setAside(seq: number, then: () => void): Promise<void> {
    if (this.#options.readOnly) {
      throw new RekindleError('JOURNAL_CLOSED', 'The journal was opened for reading only.');
    }
    await this.#queue.exclusive(async () => {
      await this.#options.lease?.check();
      this.#data.archivedTo = Math.max(this.#data.archivedTo, Math.min(seq - 1, this.#data.lastSeq));
      then();
    });
  }

  async secure(): Promise<void> {}

  async continueAfter(seq: number): Promise<void> {
    await this.#setAside(0, () => {
      if (this.#data.lastSeq > 0) throw conflict(0, this.#data.lastSeq);
      for (let n = 0; n < seq; n += 1) this.#data.records.push({ text: null, crc: null });
      this.#data.archivedTo = seq;
      this.#data.removedTo = seq;
    });
  }

  async erase(seqs: readonly number[]): Promise<number> {
    let erased = 0;
    await this.#setAside(0, () => {
      for (const seq of new Set(seqs)) {
        if (!this.#isThere(seq)) continue;
        this.#data.records[seq - 1] = { text: null, crc: null };
        erased += 1;
      }
    });
    if (erased > 0) this.#options.onAppend();
    return erased;
  }

  async repair(): Promise<[]> {
    return [];
  }

  async close(): Promise<void> {
    await this.#queue.close();
    await this.#options.onClose();
  }
}
