/** A journal in a folder of JSONL files. See `journal-line.ts` for the line and `journal-segments.ts` for the files. */
import path from 'node:path';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { SEGMENT_BYTES_MAX } from '../../core/limits.js';
import { AppendQueue, type Waiting } from '../append-queue.js';
import { errnoOf, type FileStat, type FileSystem, isSameFile } from '../file-system.js';
import type {
  AppendOptions,
  AppendResult,
  DurabilityMode,
  Journal,
  JournalDamage,
  JournalEntry,
  JournalHead,
  Lease,
  ReadOptions,
  SegmentRepair,
} from '../ports.js';
import { type EncodedRecord, encodeLineEnd, encodeRecord } from '../record-encoding.js';
import { eraseFromSegment, removeAsides } from './journal-erasure.js';
import { JournalLooks } from './journal-looks.js';
import {
  damage,
  readForward,
  readRangeBackward,
  type SegmentRange,
  sealedRanges,
  startsNumbered,
} from './journal-reader.js';
import { removeArchive } from './journal-removal.js';
import { repairSegment } from './journal-repair.js';
import { moveToFolder } from './journal-sealing.js';
import { SegmentFiles } from './journal-segments.js';
import { JournalWriter } from './journal-writer.js';
import { SequenceCheck } from './sequence-check.js';
import { labelled, storageError } from './storage-errors.js';

/** Number of scans until the segments agree with the end of the journal. */
const RANGE_TRIES = 20;

export interface FileJournalOptions {
  readonly lease: Lease | null;
  readonly readOnly: boolean;
  readonly durability: DurabilityMode;
  /** Gathering time of `batched`, in milliseconds. */
  readonly batchMs: number;
  readonly segmentBytesMax?: number;
  readonly syncAncestors: () => Promise<void>;
  readonly onClose: () => Promise<void>;
}

export class FileJournal<R extends JsonObject> implements Journal<R> {
  readonly #fs: FileSystem;
  readonly #files: SegmentFiles;
  readonly #writer: JournalWriter;
  readonly #queue: AppendQueue<EncodedRecord>;
  readonly #options: FileJournalOptions;
  readonly #looks: JournalLooks;
  /** The live file as a reader last saw it. */
  #seen: FileStat | null = null;
  #lastRefresh: Promise<void> = Promise.resolve();

  private constructor(fs: FileSystem, files: SegmentFiles, options: FileJournalOptions) {
    this.#fs = fs;
    this.#files = files;
    this.#options = options;
    this.#looks = new JournalLooks(fs, (archived) => this.#ranges(archived));
    this.#writer = new JournalWriter(fs, files, options.lease, options.syncAncestors);
    this.#queue = new AppendQueue({
      headSeq: () => this.#writer.head.seq,
      commit: (batch) => labelled(`append to ${files.base}`, () => this.#commit(batch)),
      gatherMs: options.durability === 'batched' ? options.batchMs : 0,
    });
  }

  /** @param plainPath path of the live file without `.jsonl` */
  static async open<R extends JsonObject>(
    fs: FileSystem,
    plainPath: string,
    options: FileJournalOptions,
  ): Promise<FileJournal<R>> {
    const journal = new FileJournal<R>(fs, new SegmentFiles(plainPath), options);
    const mend = !options.readOnly;
    await labelled(`open ${path.basename(plainPath)}`, () => journal.#writer.open({ mend }));
    return journal;
  }

  append(records: readonly R[], options: AppendOptions = {}): Promise<AppendResult> {
    try {
      if (this.#options.readOnly) throw readOnlyError();
      if (records.length === 0)
        throw new RekindleError('INVALID_ARGUMENT', 'An append needs at least one record.');
      const encoded = records.map(encodeRecord);
      const bytes = encoded.reduce((sum, record) => sum + record.body.length, 0);
      return this.#queue.push(encoded, bytes, options);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  async #commit(batch: readonly Waiting<EncodedRecord>[]): Promise<AppendResult[]> {
    if (this.#writer.sizeBytes > (this.#options.segmentBytesMax ?? SEGMENT_BYTES_MAX))
      await this.#writer.rotate();
    const chunks: Buffer[] = [];
    const ends: { seq: number; start: number; crc: string }[] = [];
    let seq = this.#writer.head.seq;
    let length = 0;
    let lastStart = 0;
    for (const waiting of batch) {
      let crc = '';
      for (const record of waiting.records) {
        const lineEnd = encodeLineEnd(record, ++seq);
        crc = lineEnd.crc;
        chunks.push(record.body, Buffer.from(lineEnd.text, 'latin1'));
        lastStart = length;
        length += record.body.length + lineEnd.text.length;
      }
      ends.push({ seq, start: lastStart, crc });
    }
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
    await this.#writer.commit(bytes, { sync: this.#options.durability !== 'relaxed' });
    const { segment, offset } = this.#writer.end; // after the commit, which may have started a new segment
    const results = ends.map((end) => ({
      seq: end.seq,
      crc: end.crc,
      cursor: { segment, offset: offset - length + end.start },
    }));
    this.#writer.acknowledge(results.at(-1)!);
    return results;
  }

  async *read(options: ReadOptions = {}): AsyncGenerator<JournalEntry<R>> {
    const after = options.after ?? 0;
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    try {
      for await (const entry of this.#entries(options)) {
        if (entry.kind === 'record') {
          if (entry.seq <= after) continue;
          if (left-- <= 0) return;
        }
        yield entry as JournalEntry<R>;
      }
    } catch (thrown) {
      throw storageError(thrown, `read ${this.#files.base}`);
    }
  }

  async *#entries(options: ReadOptions): AsyncGenerator<JournalEntry<JsonObject>> {
    const look = this.#looks.next(options.archived ?? false);
    const ranges = await look.ranges;
    const { cursor } = options;
    const startAt = cursor ? ranges.findIndex((range) => range.segment.number === cursor.segment) : 0;
    if (startAt < 0)
      throw new RekindleError('INVALID_ARGUMENT', 'The cursor points into a segment that is not there.');
    const check = await this.#sequenceCheck(options, ranges, startAt);
    let expected = ranges[startAt]?.segment.number ?? 1;
    for (const [index, range] of ranges.entries()) {
      if (index < startAt) continue;
      if (range.segment.number !== expected) yield damage('missing-segment', range.segment, 0, 0);
      expected = range.segment.number + 1;
      const first = index === startAt ? cursor : undefined;
      const how = first ? { files: look, records: options.limit } : {}; // a file that is met later is opened then
      yield* readForward(this.#fs, { ...range, from: first?.offset ?? range.from }, check, how);
      const beyond = range.segment.sizeBytes - range.to;
      if (beyond > 0) yield damage('after-seal', range.segment, range.to, beyond);
    }
  }

  /** With a cursor, numbers start at the caller's number or the record's own; if it has none, earlier records are counted. */
  async #sequenceCheck(
    { cursor, after }: ReadOptions,
    ranges: readonly SegmentRange[],
    startAt: number,
  ): Promise<SequenceCheck> {
    if (cursor && after !== undefined) return new SequenceCheck(after);
    const start = ranges[startAt];
    if (cursor && start && (await startsNumbered(this.#fs, { ...start, from: cursor.offset }))) {
      return SequenceCheck.untilNumbered();
    }
    const check = new SequenceCheck(ranges[0]?.segment.header?.prevSeq ?? 0);
    if (!cursor || !start) return check;
    for (const range of [...ranges.slice(0, startAt), { ...start, to: cursor.offset }]) {
      for await (const _ of readForward(this.#fs, range, check));
    }
    return check;
  }

  async *readBackward(): AsyncGenerator<JournalEntry<R>> {
    try {
      for (const range of (await this.#looks.next(false).ranges).toReversed()) {
        const before = async () => this.#seqBefore(range);
        for await (const entry of readRangeBackward(this.#fs, range, before)) yield entry as JournalEntry<R>;
      }
    } catch (thrown) {
      throw storageError(thrown, `read ${this.#files.base}`);
    }
  }

  /** The readable parts: whole segments up to their seals, and the live one up to its last whole record. */
  async #ranges(archived: boolean): Promise<SegmentRange[]> {
    for (let tries = 1; ; tries += 1) {
      if (this.#options.readOnly) await this.#refresh();
      const { segment } = this.#writer.end; // before the scan, which may see more records, or half of one
      const end = this.#writer.sizeBytes;
      const segments = await this.#files.scan(this.#fs, { archived });
      const ranges = sealedRanges(segments.filter((found) => !found.headerTorn && !found.superseded));
      const last = ranges.at(-1);
      if (last?.segment.number === segment) {
        // Torn bytes at the very end were reported at opening.
        const to = Math.min(last.segment.sizeBytes, end);
        return [...ranges.slice(0, -1), { ...last, segment: { ...last.segment, sizeBytes: to }, to }];
      }
      // A new segment was started meanwhile, or other owners wrote after a lost lease.
      if (!last || tries === RANGE_TRIES) return ranges;
    }
  }

  async #seqBefore(range: SegmentRange): Promise<number> {
    if (range.segment.header) return range.segment.header.prevSeq;
    let last = 0;
    for await (const entry of this.#entries({})) {
      if (entry.cursor.segment === range.segment.number) return last;
      if (entry.kind === 'record') last = entry.seq;
    }
    return last;
  }

  async head(): Promise<JournalHead> {
    if (this.#options.readOnly) await labelled(`read ${this.#files.base}`, () => this.#look());
    return this.#writer.head;
  }

  /** Readers ask often and mostly nothing has changed, so one `stat` of the live file is enough. */
  async #look(): Promise<void> {
    const now = await this.#fs.stat(this.#files.livePath); // before the files are read: later changes are found by the next check
    if (now && this.#seen && isSameFile(now, this.#seen)) return;
    await this.#refresh(now);
  }

  /** One at a time: an earlier check must not finish later with an older end. @param seen the live file before the check */
  async #refresh(seen: FileStat | null = null): Promise<void> {
    const look = this.#lastRefresh.then(async () => {
      this.#seen = null;
      await this.#writer.refresh();
      this.#seen = seen;
    });
    this.#lastRefresh = look.catch(() => {}); // reported to its callers
    await look;
  }

  openingDamage(): readonly (JournalDamage & { readonly setAside?: string })[] {
    return this.#writer.openingDamage;
  }

  archiveBefore(seq: number): Promise<void> {
    return this.#exclusive('archive', () => this.#archive(seq));
  }

  removeBefore(seq: number): Promise<void> {
    return this.#exclusive('remove from', async () => {
      await this.#archive(seq);
      await removeArchive(this.#fs, this.#files);
    });
  }

  /** Work that changes files, while no append is in progress. */
  #exclusive<T>(label: string, work: () => Promise<T>): Promise<T> {
    if (this.#options.readOnly) return Promise.reject(readOnlyError());
    return this.#queue.exclusive(() => labelled(`${label} ${this.#files.base}`, work));
  }

  async #archive(seq: number): Promise<void> {
    const { head } = this.#writer;
    const hasRecords = head.cursor !== null && head.cursor.segment === this.#writer.end.segment;
    if (head.seq < seq && hasRecords) await this.#writer.rotate();
    const segments = await this.#files.scan(this.#fs);
    const done = segments.filter((segment, index) => {
      const next = segments[index + 1]?.header;
      return !segment.live && next !== null && next !== undefined && next.prevSeq < seq;
    });
    if (done.length === 0) return;
    await this.#writer.secure(); // its header states where the sealed segments end
    await this.#makeArchiveFolder();
    for (const segment of done) await moveToFolder(this.#fs, segment.path, this.#files.archiveFolder);
  }

  async #makeArchiveFolder(): Promise<void> {
    try {
      await this.#fs.makeFolder(this.#files.archiveFolder);
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EEXIST') throw thrown;
    }
    await this.#fs.syncFolder(this.#files.folder);
  }

  secure(): Promise<void> {
    return this.#exclusive('secure', async () => {
      if (this.#writer.head.seq > 0) await this.#writer.secure();
    });
  }

  continueAfter(seq: number): Promise<void> {
    return this.#exclusive('begin', () => this.#writer.continueAfter(seq));
  }

  repair(): Promise<SegmentRepair[]> {
    return this.#exclusive('repair', () => this.#repair());
  }

  /** Closes the live file first, and finds the end again afterwards. A file of a writer that lost its lease is sealed first. */
  async #repair(): Promise<SegmentRepair[]> {
    await this.#writer.settle();
    const repairs: SegmentRepair[] = [];
    for (const range of sealedRanges(await this.#files.scan(this.#fs, { archived: true }))) {
      const repair = range.segment.headerTorn ? null : await repairSegment(this.#fs, range);
      if (repair) repairs.push(repair);
    }
    if (repairs.length > 0) await this.#writer.reopen();
    return repairs;
  }

  erase(seqs: readonly number[]): Promise<number> {
    return this.#exclusive('erase from', () => this.#erase(new Set(seqs)));
  }

  /** Like `#repair`, but keeps no old files. */
  async #erase(seqs: ReadonlySet<number>): Promise<number> {
    await this.#writer.settle();
    let records = 0;
    for (const range of sealedRanges(await this.#files.scan(this.#fs, { archived: true })))
      if (!range.segment.headerTorn) records += await eraseFromSegment(this.#fs, range, seqs);
    await this.#writer.reopen();
    await removeAsides(this.#fs, this.#files);
    return records;
  }

  async close(): Promise<void> {
    await this.#queue.close();
    try {
      await labelled(`close ${this.#files.base}`, () => this.#writer.close());
    } finally {
      await this.#options.onClose(); // the descriptor is gone, even if closing reported an error
    }
  }
}

function readOnlyError(): RekindleError {
  return new RekindleError('JOURNAL_CLOSED', 'The journal was opened for reading only.');
}
