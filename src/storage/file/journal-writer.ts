/**
 * The live end of a file journal: how it is found, prepared, written, synced and recovered.
 *
 * Invariants:
 * - Nothing is changed on disk before the first append, except that a torn tail is set aside at opening.
 * - `#end` is after the last acknowledged record; nothing beyond it was ever acknowledged.
 * - After a failed write the file is cut back to `#end`. After a failed sync or cut the descriptor is closed, and the
 *   file is read again through a new one: a second sync of the same descriptor may report success wrongly.
 * - After a takeover of the lease: seal what was read, never touch the old file again, write to a new one.
 */
import { isRekindleError } from '../../core/errors.js';
import { conflict } from '../append-queue.js';
import { errnoOf, type FileSystem, type OpenFile } from '../file-system.js';
import type { Cursor, JournalDamage, JournalHead, Lease } from '../ports.js';
import { withFile, writeFully } from './file-io.js';
import { damage, findEnd, NO_RECORDS, type SegmentEnd, seqBefore } from './journal-reader.js';
import {
  continuedByAnother,
  createFirstSegment,
  openWhileHeld,
  outcomeUnknown,
  restoreAcknowledged,
} from './journal-recovery.js';
import {
  createSegment,
  cutTornTail,
  type PlanAfter,
  planAfter,
  renameOnce,
  replaceByCopy,
  setStrayAside,
  syncSegment,
} from './journal-sealing.js';
import type { Segment, SegmentFiles } from './journal-segments.js';

export interface LiveEnd {
  readonly segment: number;
  readonly offset: number;
}

/** How often a fenced owner may interfere with one preparation. */
const LOOKS_MAX = 4;

export class JournalWriter {
  readonly #fs: FileSystem;
  readonly #files: SegmentFiles;
  readonly #lease: Lease | null;
  readonly #syncAncestors: () => Promise<void>;
  readonly openingDamage: (JournalDamage & { readonly setAside?: string })[] = [];

  #file: OpenFile | null = null;
  #suspect = false;
  #ready = false;
  #segment = 1;
  #end = 0;
  #head: JournalHead = { seq: 0, cursor: null, crc: null };
  /** What must be done with the files before the first append. */
  #plan: PlanAfter | 'create' | 'follow-removed' = 'create';
  #newlineMissing = false;
  /** The file of the last segment, if it is not ours yet. */
  #path = '';
  /** A live file that is not part of the journal: its header is incomplete, or from an owner that had been fenced off. */
  #strayPath: string | null = null;
  #highestFence = 0;
  #stale = false;
  /** A sync of the file failed, so a copy of its bytes is sealed. */
  #sealByCopy = false;

  constructor(fs: FileSystem, files: SegmentFiles, lease: Lease | null, syncAncestors: () => Promise<void>) {
    this.#fs = fs;
    this.#files = files;
    this.#lease = lease;
    this.#syncAncestors = syncAncestors;
  }

  get head(): JournalHead {
    return this.#head;
  }

  /** The position of the next record. */
  get end(): LiveEnd {
    return { segment: this.#segment, offset: this.#end + (this.#newlineMissing ? 1 : 0) };
  }

  get sizeBytes(): number {
    return this.#end;
  }

  /** Finds the end of the journal. With `mend`, a torn tail of a file of ours is set aside and cut off. */
  async open(options: { readonly mend: boolean }): Promise<void> {
    const segments = await this.#files.scan(this.#fs);
    const whole = segments.filter((segment) => !segment.headerTorn && !segment.superseded);
    this.#strayPath = segments.find((segment) => segment.live && !whole.includes(segment))?.path ?? null;
    const last = whole.at(-1) ?? (await this.#files.scanArchive(this.#fs)).at(-1);
    if (!last) return this.#adopt(null, NO_RECORDS); // not started yet, or removed
    await this.#assertNotFenced(last);
    const end = await findEnd(this.#fs, last, () => seqBefore(this.#fs, whole, whole.length - 1));
    this.#adopt(last, end);
    this.#plan = planAfter(last, this.#lease);
    if (end.tornBytes > 0) await this.#meetTornTail(last, end, options.mend && this.#plan === 'append');
  }

  /** For a reader: finds the current end of the journal. The findings of the opening stay. */
  async refresh(): Promise<void> {
    const known = this.openingDamage.length;
    await this.open({ mend: false });
    this.openingDamage.length = known;
  }

  /** A file under a newer fence means that we were fenced off or, if we were not, that lease files were lost. */
  async #assertNotFenced(segment: Segment): Promise<void> {
    this.#highestFence = segment.header?.fence ?? 0;
    if (this.#lease && this.#highestFence > this.#lease.fence) await this.#lease.check();
  }

  #adopt(segment: Segment | null, end: SegmentEnd): void {
    if (!segment) this.#plan = 'create';
    this.#segment = segment?.number ?? 1;
    this.#path = segment?.path ?? '';
    this.#end = end.end;
    this.#newlineMissing = end.newlineMissing;
    this.#head = { seq: end.seq, cursor: end.last?.cursor ?? null, crc: end.last?.crc ?? null };
  }

  /** Reports the torn tail; with `mend` its bytes are set aside and cut off. */
  async #meetTornTail(segment: Segment, end: SegmentEnd, mend: boolean): Promise<void> {
    const found = damage('torn', segment, end.end, end.tornBytes);
    const file = mend ? await openWhileHeld(this.#fs, segment.path, this.#lease) : null;
    const setAside = file && (await withFile(file, () => cutTornTail(this.#fs, this.#files, file, end)));
    this.openingDamage.push(setAside === null ? found : { ...found, setAside });
  }

  /** Writes and syncs one commit. If it fails, the journal is unchanged. */
  async commit(bytes: Buffer, options: { readonly sync: boolean }): Promise<void> {
    if (this.#lease?.held === false) await this.#lease.check();
    if (this.#stale) throw continuedByAnother(this.#files.base);
    if (this.#suspect) await this.#recover();
    if (!this.#ready) await this.#prepare();
    const file = this.#file!;
    const block = this.#newlineMissing ? Buffer.concat([Buffer.from('\n'), bytes]) : bytes;
    try {
      await writeFully(file, block, this.#end);
    } catch (thrown) {
      throw await this.#cutBack(file, thrown);
    }
    if (options.sync) await this.#sync(file);
    await this.#assertStillHeld(file);
    this.#end += block.length;
    this.#newlineMissing = false;
  }

  acknowledge(head: { readonly seq: number; readonly cursor: Cursor; readonly crc: string }): void {
    this.#head = head;
  }

  /** After the sync: a writer that was fenced off must neither acknowledge nor touch the file again. */
  async #assertStillHeld(file: OpenFile): Promise<void> {
    try {
      await this.#lease?.check();
    } catch (thrown) {
      throw isRekindleError(thrown, 'LEASE_LOST') ? thrown : await this.#cutBack(file, thrown);
    }
  }

  /** Undoes a write and returns the error to report. If the undo fails too, the outcome is unknown. */
  async #cutBack(file: OpenFile, thrown: unknown): Promise<unknown> {
    try {
      await file.truncate(this.#end);
      return thrown;
    } catch {
      await this.#distrust(file);
      return outcomeUnknown(this.#files.base, 'could not be cut back after a failed write', thrown);
    }
  }

  async #sync(file: OpenFile): Promise<void> {
    try {
      await file.datasync();
    } catch (thrown) {
      await this.#distrust(file);
      throw outcomeUnknown(this.#files.base, 'could not be synced', thrown);
    }
  }

  async #distrust(file: OpenFile): Promise<void> {
    this.#suspect = true;
    this.#file = null;
    await file.close().catch(() => {}); // not used again, even if closing fails
  }

  /** Reads the file again. The last acknowledged record must be there; everything after it is cut off. */
  async #recover(): Promise<void> {
    const file = await openWhileHeld(this.#fs, this.#files.livePath, this.#lease);
    try {
      const known = { segment: this.#segment, end: this.#end, head: this.#head };
      await restoreAcknowledged(file, { ...known, journal: this.#files.base });
    } catch (thrown) {
      await file.close().catch(() => {});
      throw thrown;
    }
    this.#file = file;
    this.#suspect = false;
  }

  /** Executes the plan, so that the live file is ours and its name is durable. */
  async #prepare(): Promise<void> {
    await this.#lease?.check();
    await this.#syncAncestors();
    for (let tries = 1; this.#file === null; tries += 1) {
      await this.#openLive().catch((thrown: unknown) => this.#lookAgain(thrown, tries));
    }
    this.#plan = 'append';
    await this.#fs.syncFolder(this.#files.folder);
    this.#ready = true;
  }

  /**
   * A fenced owner can wake and rename or create the live file once more. The holder of the lease then finds the
   * current end of the journal again. Whatever that owner added to the segment that was read is after the known end,
   * and the seal is put there. If the journal holds something else than expected, this writer must stop.
   */
  async #lookAgain(thrown: unknown, tries: number): Promise<void> {
    const moved = errnoOf(thrown) === 'ENOENT' || isRekindleError(thrown, 'LEASE_LOST');
    if (this.#stale || !moved || !this.#lease || tries === LOOKS_MAX) throw thrown;
    await this.#lease.check();
    const known = { segment: this.#segment, end: this.#end, head: this.#head, newline: this.#newlineMissing };
    await this.refresh();
    if (this.#segment === known.segment) {
      this.#end = known.end;
      this.#newlineMissing = known.newline;
    } else if (this.#head.seq !== known.head.seq) {
      this.#stale = true;
      throw continuedByAnother(this.#files.base);
    }
    this.#head = known.head;
  }

  async #openLive(): Promise<void> {
    if (this.#plan === 'append') this.#file = await this.#continueLive();
    else if (this.#plan === 'follow-removed') await this.#begin();
    else if (this.#plan !== 'create') await this.#startSegment({ renameLive: this.#plan === 'seal-live' });
    else {
      await this.#setStrayAside();
      this.#file = await createFirstSegment(this.#fs, this.#files, this.#lease);
    }
  }

  /** A killed owner may not have synced its records. A power failure must not lose them alone, so they are synced first. */
  async #continueLive(): Promise<OpenFile> {
    const file = await openWhileHeld(this.#fs, this.#files.livePath, this.#lease);
    await file.datasync().catch(async (thrown: unknown) => {
      [this.#plan, this.#sealByCopy] = ['seal-live', true];
      await file.close().catch(() => {});
      throw thrown;
    });
    return file;
  }

  /** Starts as a journal whose first records were removed: with a second segment whose header states the number before it. */
  async continueAfter(seq: number): Promise<void> {
    // An attempt that was killed can leave the live file without its header.
    const isEmpty = this.#head.seq === 0 && this.#end === 0 && !this.#ready;
    if (this.#plan !== 'create' && !isEmpty) throw conflict(0, this.#head.seq);
    this.#head = { seq, cursor: null, crc: null };
    this.#plan = 'follow-removed';
    await this.#prepare();
  }

  /** Seals the live segment and continues in a new one. The caller has no append in progress. */
  async rotate(): Promise<void> {
    if (this.#suspect) await this.#recover();
    if (!this.#ready) await this.#prepare();
    this.#plan = 'seal-live';
    this.#path = this.#files.livePath;
    await this.close();
    await this.#prepare();
  }

  /**
   * Renames the live file to its number (durably, so that the new live file can never replace it), then creates the new
   * one with a header that seals the old. A killed owner may not have synced the part that was read. The journal relies
   * on that part from now on, so it is made durable first.
   */
  async #startSegment(options: { readonly renameLive: boolean }): Promise<void> {
    await this.#setStrayAside();
    await this.#secureSealed();
    const fence = this.#lease?.fence ?? 0;
    if (options.renameLive) {
      const sealed = this.#files.sealedPath(this.#segment, fence);
      await renameOnce(this.#fs, this.#files.livePath, sealed);
      this.#path = sealed;
      this.#plan = 'follow-sealed';
    }
    await this.#fs.syncFolder(this.#files.folder);
    await this.#begin();
  }

  /** Creates the live file of the next segment, with its header. */
  async #begin(): Promise<void> {
    const fence = Math.max(this.#lease?.fence ?? 0, this.#highestFence);
    const before = { prevLength: this.#end, prevSeq: this.#head.seq };
    const header = { segment: this.#segment + 1, ...before, fence };
    const made = await createSegment(this.#fs, this.#files, header, async () => this.#lease?.check());
    this.#file = made.file;
    this.#segment = header.segment;
    this.#end = made.headerBytes;
    this.#newlineMissing = false;
  }

  async #secureSealed(): Promise<void> {
    if (this.#sealByCopy) await replaceByCopy(this.#fs, this.#files, this.#path, this.#end);
    else {
      this.#sealByCopy = true; // reset if this sync succeeds
      await syncSegment(this.#fs, this.#path);
    }
    this.#sealByCopy = false;
  }

  async #setStrayAside(): Promise<void> {
    if (this.#strayPath === null) return;
    const place = { number: this.#segment + 1, fence: this.#lease?.fence ?? 0 };
    await setStrayAside(this.#fs, this.#files, this.#strayPath, place);
    this.#strayPath = null;
  }

  /** Makes it ready for readers: seals the file of an earlier owner. Does nothing for a journal without records. */
  async settle(): Promise<void> {
    if (this.#plan === 'seal-live' || this.#plan === 'follow-sealed') await this.#prepare();
  }

  /** Makes the live file and its name durable, also if another process wrote them. */
  async secure(): Promise<void> {
    if (this.#suspect) await this.#recover();
    if (!this.#ready) await this.#prepare();
    await this.#sync(this.#file!);
  }

  /** Finds the end of the files again. */
  async reopen(): Promise<void> {
    await this.close();
    await this.open({ mend: true });
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    this.#ready = false;
    await file?.close();
  }
}
