/** What the records of a thread say, and recently used ones of them. */
import type { JsonObject } from '../../core/json.js';
import type { Cursor, JournalRecord } from '../../storage/ports.js';
import type { JournalState } from '../whole-journal.js';
import { KnownValues } from './known-values.js';
import { RecentRecords } from './recent-records.js';
import { ThreadContents } from './thread-contents.js';
import { type CopyOrigin, decodeThreadRecord, type ThreadRecord } from './thread-record.js';

/** New contents that take effect with their last record. */
interface Section {
  readonly begin: number;
  readonly contents: ThreadContents;
  readonly copy: CopyOrigin | null;
}

export class ThreadIndex implements JournalState {
  /** The thread id in its first record; null if there is none. */
  thread: string | null = null;
  contents = new ThreadContents();
  recent = new RecentRecords();
  known = new KnownValues();
  /** The number of the record with which the contents begin: earlier records are to be erased. */
  begin = 1;
  /** The last record. */
  last: { readonly seq: number; readonly crc: string | null } = { seq: 0, crc: null };
  readonly #cursors = new Map<number, Cursor>();
  #section: Section | null = null;
  /** Of contents that are a copy and nothing else. */
  #copy: CopyOrigin | null = null;

  apply({ seq, record: row, cursor, crc }: JournalRecord<JsonObject>): boolean {
    const record = decodeThreadRecord(row);
    if (record === null) return false;
    this.#cursors.set(seq, cursor);
    this.last = { seq, crc };
    this.recent.add(seq, record);
    if (this.thread === null && typeof row['thread'] === 'string') this.thread = row['thread'];
    this.#copy = null;
    this.#apply(seq, record);
    return true;
  }

  cursorOf(seq: number): Cursor | undefined {
    return this.#cursors.get(seq);
  }

  /** The numbers of records that are to be erased. */
  before(): number[] {
    return [...this.#cursors.keys()].filter((seq) => seq < this.begin);
  }

  forget(seqs: readonly number[]): void {
    for (const seq of seqs) this.#cursors.delete(seq);
  }

  /** True if nothing changed since this was copied, and the origin is the same as then. */
  isCopyOf({ thread, seq, crc }: CopyOrigin): boolean {
    const copy = this.#copy;
    return copy !== null && copy.thread === thread && copy.seq === seq && copy.crc === crc;
  }

  #apply(seq: number, record: ThreadRecord): void {
    if (record.type === 'begin') {
      this.#begin({ begin: seq, contents: new ThreadContents(), copy: record.copy ?? null });
    } else if (record.type === 'end') {
      if (this.#section?.begin === record.begin) this.#replace(this.#section);
      this.#section = null;
    } else {
      const contents = this.#contentsFor(record.in);
      if (record.type === 'checkpoint') contents.addCheckpoint(seq, record);
      else contents.addWrites(seq, record);
    }
  }

  /** A crash may have ended a section early: then the next record is outside of it. */
  #contentsFor(begin: number | undefined): ThreadContents {
    if (begin === undefined) {
      this.#section = null;
      return this.contents;
    }
    // A repair may have dropped its first record.
    if (this.#section?.begin !== begin) this.#begin({ begin, contents: new ThreadContents(), copy: null });
    return this.#section!.contents;
  }

  /**
   * Earlier records are erased after the last record of a section is durable. So if there were some and none is left, the section is
   * complete, also if a repair dropped its last record.
   */
  #begin(section: Section): void {
    this.#section = section;
    const [first] = this.#cursors.keys();
    const isAlone = first === undefined || first >= section.begin;
    if (section.begin > 1 && isAlone) this.#replace(section);
  }

  #replace({ begin, contents, copy }: Section): void {
    this.contents = contents;
    this.begin = begin;
    this.#copy = copy;
    this.recent = new RecentRecords();
    this.known = new KnownValues();
  }
}
