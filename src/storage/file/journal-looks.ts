/**
 * What reads of a journal share if they begin together: one look at its folder, and each file that several of them start in.
 * A look begins after all reads that use it were asked for, and no later read uses it. So each read sees what a read alone
 * would see, and nothing is kept from one read to the next.
 */
import type { FileSystem, OpenFile } from '../file-system.js';
import type { SegmentRange } from './journal-reader.js';
import { openSegment, type Segment, type SegmentSource } from './journal-segments.js';

interface SharedFile {
  readonly file: Promise<OpenFile>;
  users: number;
}

export class JournalLook implements SegmentSource {
  readonly ranges: Promise<readonly SegmentRange[]>;
  readonly #fs: FileSystem;
  readonly #files = new Map<Segment, SharedFile>();

  constructor(fs: FileSystem, ranges: Promise<readonly SegmentRange[]>) {
    this.#fs = fs;
    this.ranges = ranges;
  }

  open(segment: Segment): Promise<OpenFile> {
    const shared = this.#files.get(segment);
    if (shared) {
      shared.users += 1;
      return shared.file;
    }
    const file = openSegment(this.#fs, segment);
    this.#files.set(segment, { file, users: 1 });
    return file;
  }

  /** The last user closes it. */
  async close(segment: Segment, file: OpenFile): Promise<void> {
    const shared = this.#files.get(segment);
    if (shared && --shared.users > 0) return;
    this.#files.delete(segment);
    await file.close();
  }
}

export class JournalLooks {
  readonly #fs: FileSystem;
  readonly #look: (archived: boolean) => Promise<readonly SegmentRange[]>;
  /** Looks that have not begun, with and without archived segments. */
  readonly #next = new Map<boolean, JournalLook>();

  constructor(fs: FileSystem, look: (archived: boolean) => Promise<readonly SegmentRange[]>) {
    this.#fs = fs;
    this.#look = look;
  }

  /** A look that begins after this call. */
  next(archived: boolean): JournalLook {
    const waiting = this.#next.get(archived);
    if (waiting) return waiting;
    const ranges = Promise.resolve().then(() => {
      this.#next.delete(archived);
      return this.#look(archived);
    });
    const look = new JournalLook(this.#fs, ranges);
    this.#next.set(archived, look);
    return look;
  }
}
