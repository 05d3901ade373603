/** A journal in a folder of JSONL files. See `journal-line.ts` for the line, `journal-segments.ts` for the files. */
import path from 'node:path';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { SEGMENT_BYTES_MAX } from '../../core/limits.js';
import { AppendQueue, type Waiting } from '../append-queue.js';
import { errnoOf, type FileSystem } from '../file-system.js';
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
} from '../ports.js';
import { type EncodedRecord, encodeLineEnd, encodeRecord } from '../record-encoding.js';
import { damage, readForward, readRangeBackward, type SegmentRange, sealedRanges } from './journal-reader.js';
import { SegmentFiles } from './journal-segments.js';
import { JournalWriter } from './journal-writer.js';
import { SequenceCheck } from './sequence-check.js';
import { labelled } from './storage-errors.js';

export interface FileJournalOptions {
  readonly lease: Lease | null;
  readonly readOnly: boolean;
  readonly durability: DurabilityMode;
  /** Gathering time of `batched`. */
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

  private constructor(fs: FileSystem, files: SegmentFiles, options: FileJournalOptions) {
    this.#fs = fs;
    this.#files = files;
    this.#options = options;
    this.#writer = new JournalWriter(fs, files, options.lease, options.syncAncestors);
    this.#queue = new AppendQueue({
      headSeq: () => this.#writer.head.seq,
      commit: (batch) => labelled(`append to ${files.base}`, () => this.#commit(batch)),
      gatherMs: options.durability === 'batched' ? options.batchMs : 0,
    });
  }

  /** @param plainPath the live file's path without `.jsonl` */
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
      if (this.#options.readOnly)
        throw new RekindleError('JOURNAL_CLOSED', 'The journal was opened for reading only.');
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
    const { segment, offset } = this.#writer.end; // after the commit: it may have started a new segment
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
    for await (const entry of this.#entries(options)) {
      if (entry.kind === 'record') {
        if (entry.seq <= after) continue;
        if (left-- <= 0) return;
      }
      yield entry as JournalEntry<R>;
    }
  }

  async *#entries(options: ReadOptions): AsyncGenerator<JournalEntry<JsonObject>> {
    const ranges = await this.#ranges(options.archived ?? false);
    const { cursor } = options;
    const startAt = cursor ? ranges.findIndex((range) => range.segment.number === cursor.segment) : 0;
    if (startAt < 0)
      throw new RekindleError('INVALID_ARGUMENT', 'The cursor points into a segment that is not there.');
    const check = this.#sequenceCheck(options, ranges);
    let expected = ranges[startAt]?.segment.number ?? 1;
    for (const [index, range] of ranges.entries()) {
      if (index < startAt) continue;
      if (range.segment.number !== expected) yield damage('missing-segment', range.segment, 0, 0);
      expected = range.segment.number + 1;
      const from = index === startAt && cursor ? cursor.offset : range.from;
      yield* readForward(this.#fs, { ...range, from }, check);
      const beyond = range.segment.sizeBytes - range.to;
      if (beyond > 0) yield damage('after-seal', range.segment, range.to, beyond);
    }
  }

  /** With a cursor, numbers start where the caller says, or at the first line that carries one. */
  #sequenceCheck({ cursor, after }: ReadOptions, ranges: readonly SegmentRange[]): SequenceCheck {
    if (!cursor) return new SequenceCheck(ranges[0]?.segment.header?.prevSeq ?? 0);
    return after === undefined ? SequenceCheck.untilNumbered() : new SequenceCheck(after);
  }

  async *readBackward(): AsyncGenerator<JournalEntry<R>> {
    const ranges = await this.#ranges(false);
    for (const range of ranges.reverse()) {
      const before = async () => this.#seqBefore(range);
      for await (const entry of readRangeBackward(this.#fs, range, before)) yield entry as JournalEntry<R>;
    }
  }

  /** What is readable now: whole segments, each up to its seal, and the live one up to its last whole record. */
  async #ranges(archived: boolean): Promise<SegmentRange[]> {
    const segments = await labelled(`read ${this.#files.base}`, () =>
      this.#files.scan(this.#fs, { archived }),
    );
    const ranges = sealedRanges(segments.filter((segment) => !segment.headerTorn));
    const last = ranges.at(-1);
    const end = this.#writer.end;
    // Torn bytes at the very end were reported at opening; a lost lease may have let others write on.
    if (!last || last.segment.number !== end.segment) return ranges;
    const to = Math.min(last.segment.sizeBytes, this.#writer.sizeBytes);
    return [...ranges.slice(0, -1), { ...last, segment: { ...last.segment, sizeBytes: to }, to }];
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

  head(): Promise<JournalHead> {
    return Promise.resolve(this.#writer.head);
  }

  openingDamage(): readonly (JournalDamage & { readonly setAside?: string })[] {
    return this.#writer.openingDamage;
  }

  archiveBefore(seq: number): Promise<void> {
    if (this.#options.readOnly) {
      return Promise.reject(new RekindleError('JOURNAL_CLOSED', 'The journal was opened for reading only.'));
    }
    return this.#queue.exclusive(() => labelled(`archive ${this.#files.base}`, () => this.#archive(seq)));
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
    await this.#makeArchiveFolder();
    for (const segment of done) {
      await this.#fs.rename(segment.path, path.join(this.#files.archiveFolder, path.basename(segment.path)));
    }
    await this.#fs.syncFolder(this.#files.archiveFolder);
    await this.#fs.syncFolder(this.#files.folder);
  }

  async #makeArchiveFolder(): Promise<void> {
    try {
      await this.#fs.makeFolder(this.#files.archiveFolder);
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EEXIST') throw thrown;
    }
    await this.#fs.syncFolder(this.#files.folder);
  }

  async close(): Promise<void> {
    await this.#queue.close();
    try {
      await labelled(`close ${this.#files.base}`, () => this.#writer.close());
    } finally {
      await this.#options.onClose(); // the descriptor is gone, whatever closing said
    }
  }
}
