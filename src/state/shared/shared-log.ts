/** The journal of one shared state, `changes.jsonl`, the state that it leads to, and the way back through its history. */
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { isHarmful } from '../../storage/journal-check.js';
import { JOURNAL_START } from '../../storage/journal-position.js';
import type { Journal, JournalHead, JournalRecord, Name, StorageBackend } from '../../storage/ports.js';
import { type Decision, SharedJournal } from '../../storage/shared-journal.js';
import {
  decodeShared,
  encodeShared,
  type SharedRecord,
  type SnapshotPlace,
  type StateImage,
} from './shared-record.js';
import { SharedTable, type StateChange } from './shared-table.js';

export interface SharedLogOptions {
  readonly folder: Name;
  /** Changes that stay in the history at least. */
  readonly history: number;
  readonly tombstones: number;
  readonly waitMs?: number;
  /** Told of each change, own and others', in order. Not of those that are there when it begins. */
  readonly onChange: (change: StateChange) => void;
  /** The state was read anew: changes may have been missed. */
  readonly onReload: () => void;
}

/** A snapshot is written when the changes since the last one have become as long as the state; of a small state, less often. */
const SNAPSHOT_BYTES_MIN = 64 * 1024;
/** What is removed of the history at once. */
const SEGMENT_BYTES = 1024 * 1024;
/** The shortest change that a damaged range can have held. */
const CHANGE_BYTES_MIN = 30;

export class SharedLog {
  readonly #journal: SharedJournal<JsonObject>;
  readonly #place: Name;
  readonly #options: SharedLogOptions;
  #table = new SharedTable();
  #loaded = false;
  /** Damage is passed over, and counted in bytes: only for `recover`. */
  #tolerated: { bytes: number } | null = null;

  constructor(backend: StorageBackend, options: SharedLogOptions) {
    this.#options = options;
    this.#place = [...options.folder, 'changes'];
    this.#journal = new SharedJournal(backend, {
      journal: this.#place,
      lease: [...options.folder, 'changes.lease'],
      segmentBytes: SEGMENT_BYTES,
      fold: { load: (journal) => this.#load(journal), apply: (entry) => this.#apply(entry) },
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  /**
   * Goes on after damage, with what can be read: all versions go up by what may have been lost, so that none is used twice.
   * @returns how many changes may be missing; 0 when nothing was wrong, and nothing was written
   */
  static async recover(backend: StorageBackend, options: SharedLogOptions, at: string): Promise<number> {
    const strict = new SharedLog(backend, options);
    const damage = await strict.refresh().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    await strict.close();
    if (damage === null) return 0;
    if (!isRekindleError(damage, 'JOURNAL_DAMAGED')) throw damage;
    const tolerant = new SharedLog(backend, options);
    tolerant.#tolerated = { bytes: 0 };
    try {
      return await tolerant.#beginAnew(at, tolerant.#tolerated);
    } finally {
      await tolerant.close();
    }
  }

  /** The newest state that is known here. */
  get table(): SharedTable {
    return this.#table;
  }

  refresh(): Promise<void> {
    return this.#journal.refresh();
  }

  /**
   * One record, on the newest state. `decide` gives the commits, or null where nothing changes.
   * @throws JOURNAL_DAMAGED, and as `SharedJournal.change`
   */
  async change(decide: () => Pick<SharedRecord, 'at' | 'commits'> | null): Promise<void> {
    let snapshot: StateImage | null = null;
    await this.#journal.change(async (): Promise<Decision<JsonObject, void>> => {
      const decided = decide();
      if (!decided) return { secure: true, done: () => {} }; // a refusal rests on what is durable, too
      const table = this.#table;
      const isDue = table.sinceSnapshot >= Math.max(SNAPSHOT_BYTES_MIN, table.keys.bytes);
      snapshot = isDue ? table.image(this.#options.tombstones) : null;
      return {
        record: encodeShared({ first: table.globalVersion + 1, ...decided, snapshot }),
        done: () => {},
      };
    });
    if (snapshot !== null) await this.#removeHistory();
  }

  /** Removes what is older than a snapshot with enough history after it. That it fails takes nothing back: the next one does it. */
  async #removeHistory(): Promise<void> {
    const { snapshots, globalVersion } = this.#table;
    const keep = snapshots.findLast((place) => place.globalVersion <= globalVersion - this.#options.history);
    if (!keep || keep === snapshots[0]) return;
    await this.#journal
      .maintain(async (journal) => {
        await journal.removeBefore(keep.seq);
        this.#table.snapshots = this.#table.snapshots.filter(({ seq }) => seq >= keep.seq);
      })
      .catch(() => {});
  }

  /** The changes after a global version, in order, with their values. @throws HISTORY_GONE when they are not all there any more */
  async *changesAfter(globalVersion: number): AsyncGenerator<StateChange> {
    await this.refresh();
    const { table } = await this.#startAt(globalVersion);
    for await (const changes of this.#replay(table, this.#table.globalVersion))
      for (const change of changes) if (change.globalVersion > globalVersion) yield change;
  }

  /** The state as it was; of a version inside a commit, as it was before that commit. @throws HISTORY_GONE */
  async at(globalVersion: number): Promise<SharedTable> {
    await this.refresh();
    const { table } = await this.#startAt(globalVersion);
    for await (const _ of this.#replay(table, globalVersion));
    return table;
  }

  /** From the oldest state that is still there. */
  async *wholeHistory(): AsyncGenerator<StateChange> {
    await this.refresh();
    const { table } = await this.#oldest();
    for await (const changes of this.#replay(table, this.#table.globalVersion)) yield* changes;
  }

  /** Versions above it can be looked at. */
  async oldestVersion(): Promise<number> {
    await this.refresh();
    return (await this.#oldest()).table.globalVersion;
  }

  /** The newest state at or before a version that can be gone on from. */
  async #startAt(globalVersion: number): Promise<{ readonly table: SharedTable }> {
    const found = this.#table.snapshots.findLast((place) => place.globalVersion <= globalVersion);
    const start = found && (await this.#read(found));
    if (start) return { table: start };
    const oldest = await this.#oldest();
    if (oldest.table.globalVersion <= globalVersion) return oldest;
    throw historyGone(this.#place, globalVersion, oldest.table.globalVersion);
  }

  async #oldest(): Promise<{ readonly table: SharedTable }> {
    if (await this.#startsWhole()) return { table: new SharedTable() };
    for (const place of this.#table.snapshots) {
      const table = await this.#read(place);
      if (table) return { table };
    }
    throw historyGone(this.#place, 0, this.#table.globalVersion);
  }

  async #startsWhole(): Promise<boolean> {
    for await (const entry of (await this.#journal.reader()).read({ limit: 1 }))
      if (entry.kind === 'record') return entry.seq === 1;
    return true;
  }

  /** The state that a snapshot holds, with its own place last; null when it was removed meanwhile. */
  async #read(place: SnapshotPlace): Promise<SharedTable | null> {
    for await (const entry of this.#from(place)) {
      const record = decodeShared(entry.record);
      if (entry.seq !== place.seq || !record?.snapshot) return null;
      const table = SharedTable.of(record.snapshot);
      table.snapshots = [place];
      return table;
    }
    return null;
  }

  async *#from(place: SnapshotPlace | undefined): AsyncGenerator<JournalRecord<JsonObject>> {
    const reader = await this.#journal.reader();
    try {
      const options = place ? { after: place.seq - 1, cursor: place.cursor } : {};
      for await (const entry of reader.read(options)) if (entry.kind === 'record') yield entry;
    } catch (thrown) {
      if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown; // its segment is gone
    }
  }

  /** Brings a table from its last snapshot up to a version, commit by commit. */
  async *#replay(table: SharedTable, to: number): AsyncGenerator<StateChange[]> {
    const place = table.snapshots[0];
    for await (const entry of this.#from(place)) {
      if (table.globalVersion >= to) return;
      const record = decodeShared(entry.record);
      if (SharedTable.gapBefore(record, table.globalVersion) !== 'none')
        throw this.#damaged(`record ${entry.seq} does not follow the one before`);
      if (!record) return;
      if (record.snapshot?.recovered) table.restore(record.snapshot);
      const commits = record.commits.filter(fitting(table.globalVersion, to));
      const own = entry.seq === place?.seq;
      yield table.apply({ ...record, commits, ...(own ? { snapshot: null } : {}) }, entry);
    }
  }

  async #load(journal: Journal<JsonObject>): Promise<JournalHead> {
    const entries: JournalRecord<JsonObject>[] = [];
    let head = JOURNAL_START;
    for await (const entry of journal.readBackward()) {
      if (entry.kind !== 'record') {
        if (isHarmful(entry)) this.#tolerate(`damaged in ${entry.place}`, entry.bytes);
        continue;
      }
      if (head.seq === 0) head = { seq: entry.seq, cursor: entry.cursor, crc: entry.crc };
      entries.push(entry);
      if (entry.record['snapshot'] !== undefined) break;
    }
    this.#table = this.#tableOf(entries.reverse());
    if (this.#loaded) this.#options.onReload();
    this.#loaded = true;
    return head;
  }

  #tableOf(entries: readonly JournalRecord<JsonObject>[]): SharedTable {
    let table = new SharedTable();
    for (const [index, entry] of entries.entries()) {
      const record = decodeShared(entry.record);
      if (index === 0 && record?.snapshot) table = SharedTable.of(record.snapshot);
      if (SharedTable.gapBefore(record, table.globalVersion) !== 'none') {
        this.#tolerate(`record ${entry.seq} does not follow the one before`, 0);
        if (record) table.keys.globalVersion = record.first - 1;
      }
      if (record) table.apply(record, entry);
    }
    return table;
  }

  #apply(entry: JournalRecord<JsonObject>): void {
    const record = decodeShared(entry.record);
    if (!record || SharedTable.gapBefore(record, this.#table.globalVersion) !== 'none')
      throw this.#damaged(`record ${entry.seq} does not follow the one before`);
    if (record.snapshot?.recovered) {
      this.#table.restore(record.snapshot);
      this.#options.onReload();
    }
    for (const change of this.#table.apply(record, entry)) this.#options.onChange(change);
  }

  #tolerate(why: string, bytes: number): void {
    if (!this.#tolerated) throw this.#damaged(why);
    this.#tolerated.bytes += bytes;
  }

  /** Sets a new beginning after damage, made of what can be read. @returns how many changes may be missing */
  #beginAnew(at: string, tolerated: { readonly bytes: number }): Promise<number> {
    return this.#journal.change(async () => {
      const lost = Math.ceil(tolerated.bytes / CHANGE_BYTES_MIN) + 1;
      const snapshot = raised(this.#table.image(Number.POSITIVE_INFINITY), lost);
      const record = encodeShared({ first: snapshot.globalVersion + 1, at, commits: [], snapshot });
      return { record, done: () => lost };
    });
  }

  #damaged(why: string): RekindleError {
    const text = `${this.#place.join('/')} cannot be followed: ${why}.`;
    return new RekindleError('JOURNAL_DAMAGED', text, { details: { name: [...this.#place], why } });
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}

/** Whole commits, as long as they end at or before a version. */
function fitting(from: number, to: number): (commit: SharedRecord['commits'][number]) => boolean {
  let reached = from;
  return ({ changes }) => {
    reached += changes.length;
    return reached <= to;
  };
}

function raised(image: StateImage, lost: number): StateImage {
  return {
    ...image,
    recovered: true,
    globalVersion: image.globalVersion + lost,
    versionFloor: image.versionFloor + lost,
    keys: image.keys.map((state) => ({ ...state, version: state.version + lost })),
    earlier: [],
  };
}

function historyGone(name: Name, wanted: number, oldest: number): RekindleError {
  const text = `Version ${wanted} of ${name.join('/')} was removed; the oldest that is there is ${oldest}.`;
  return new RekindleError('HISTORY_GONE', text, { details: { name: [...name], wanted, oldest } });
}
