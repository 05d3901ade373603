/** The journal of one shared state, `changes.jsonl`, the state that it leads to, and the way back through its history. */
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { damagedAtEnd } from '../../storage/journal-check.js';
import { JOURNAL_START } from '../../storage/journal-position.js';
import type { Journal, JournalHead, JournalRecord, Name, StorageBackend } from '../../storage/ports.js';
import { type Decision, SharedJournal } from '../../storage/shared-journal.js';
import { fitting, historyGone, newRecordId, raised } from './shared-history.js';
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
  readonly nowMs: () => number;
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
  /** Bytes after the last record that are damaged. */
  #endDamage = 0;
  /** How many changes are missing in the middle; counted for `recover`, else an error. */
  #missing: number | null = null;

  constructor(backend: StorageBackend, options: SharedLogOptions) {
    this.#options = options;
    this.#place = [...options.folder, 'changes'];
    this.#journal = new SharedJournal(backend, {
      journal: this.#place,
      lease: [...options.folder, 'changes.lease'],
      segmentBytes: SEGMENT_BYTES,
      fold: {
        load: (journal) => this.#load(journal),
        apply: (entry) => this.#apply(entry),
        endDamaged: (bytes) => {
          this.#endDamage = bytes;
        },
      },
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  /**
   * Goes on after damage, with what can be read.
   * @returns how many changes may be missing; 0 when nothing was wrong, and nothing was written
   */
  static async recover(backend: StorageBackend, options: SharedLogOptions): Promise<number> {
    const log = new SharedLog(backend, options);
    log.#missing = 0;
    try {
      const reader = await log.#journal.reader(); // where nothing is wrong, nothing is written
      await log.#load(reader);
      log.#endDamage = await damagedAtEnd(reader);
      if (log.#lost === 0) return 0;
      return await log.#journal.change(async () => {
        const lost = log.#lost;
        return lost === 0 ? { done: () => 0 } : { record: log.#newBeginning(), done: () => lost };
      });
    } finally {
      await log.close();
    }
  }

  /** The newest state that is known here. */
  get table(): SharedTable {
    return this.#table;
  }

  refresh(): Promise<void> {
    return this.#journal.refresh();
  }

  watch(): Promise<() => Promise<void>> {
    return this.#journal.watch();
  }

  /**
   * One record, on the newest state. `decide` gives the commits, or null where nothing changes.
   * @throws JOURNAL_DAMAGED, and as `SharedJournal.change`
   */
  async change(decide: () => Pick<SharedRecord, 'at' | 'commits'> | null): Promise<void> {
    let snapshot: StateImage | null = null;
    const isDone = await this.#journal.change(async (): Promise<Decision<JsonObject, boolean>> => {
      // Bytes that a crash left, or a record that is damaged now: what it changed is not known, so its versions are left out.
      if (this.#endDamage > 0) return { record: this.#newBeginning(), done: () => false };
      const decided = decide();
      if (!decided) return { secure: true, done: () => true }; // a refusal rests on what is durable, too
      const table = this.#table;
      const isDue = table.sinceSnapshot >= Math.max(SNAPSHOT_BYTES_MIN, table.keys.bytes);
      snapshot = isDue ? table.image(this.#options.tombstones) : null;
      const record = encodeShared({
        first: table.globalVersion + 1,
        id: newRecordId(),
        ...decided,
        snapshot,
      });
      return { record, done: () => true };
    });
    if (!isDone) await this.change(decide);
    else if (snapshot !== null) await this.#removeHistory();
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
    const table = await this.#startAt(globalVersion);
    for await (const changes of this.#replay(table, this.#table.globalVersion))
      for (const change of changes) if (change.globalVersion > globalVersion) yield change;
  }

  /** Whether what is here goes on from a version that somebody has. @param history of that version; not compared when undefined */
  async continues(globalVersion: number, history: string | undefined): Promise<boolean> {
    await this.refresh();
    const table = this.#table;
    if (globalVersion > table.globalVersion) return false;
    if (globalVersion === 0 || history === undefined) return true;
    if (globalVersion === table.globalVersion) return history === table.history;
    try {
      for await (const change of this.changesAfter(globalVersion - 1)) return change.history === history;
    } catch (thrown) {
      if (!isRekindleError(thrown, 'HISTORY_GONE')) throw thrown;
    }
    return false;
  }

  /** The state as it was; of a version inside a commit, as it was before that commit. @throws HISTORY_GONE */
  async at(globalVersion: number): Promise<SharedTable> {
    await this.refresh();
    const table = await this.#startAt(globalVersion);
    for await (const _ of this.#replay(table, globalVersion));
    return table;
  }

  /** From the oldest state that is still there. */
  async *wholeHistory(): AsyncGenerator<StateChange> {
    await this.refresh();
    const table = await this.#oldest();
    for await (const changes of this.#replay(table, this.#table.globalVersion)) yield* changes;
  }

  /** Versions above it can be looked at. */
  async oldestVersion(): Promise<number> {
    await this.refresh();
    return (await this.#oldest()).globalVersion;
  }

  /** The newest state at or before a version that can be gone on from. */
  async #startAt(globalVersion: number): Promise<SharedTable> {
    const found = this.#table.snapshots.findLast((place) => place.globalVersion <= globalVersion);
    const start = found && (await this.#read(found));
    if (start) return start;
    const oldest = await this.#oldest();
    if (oldest.globalVersion <= globalVersion) return oldest;
    throw historyGone(this.#place, globalVersion, oldest.globalVersion);
  }

  async #oldest(): Promise<SharedTable> {
    if (this.#table.historyFrom === 0 && (await this.#startsWhole())) return new SharedTable();
    for (const place of this.#table.snapshots) {
      const table = await this.#read(place);
      if (table) return table;
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
    if (place && (await isAt(reader, place))) {
      const options = { after: place.seq - 1, cursor: place.cursor };
      for await (const entry of reader.read(options)) if (entry.kind === 'record') yield entry;
      return;
    }
    // In a copy of the store the record has another place, and the same number.
    for await (const entry of reader.read(place ? { after: place.seq - 1 } : {}))
      if (entry.kind === 'record') yield entry;
  }

  /** Brings a table from its last snapshot up to a version, commit by commit. */
  async *#replay(table: SharedTable, to: number): AsyncGenerator<StateChange[]> {
    const place = table.snapshots[0];
    for await (const entry of this.#from(place)) {
      if (table.globalVersion >= to) return;
      const record = this.#next(table, entry);
      if (record.snapshot?.recovered) table.restore(record.snapshot);
      const commits = record.commits.filter(fitting(table.globalVersion, to));
      const own = entry.seq === place?.seq;
      yield table.apply({ ...record, commits, ...(own ? { snapshot: null } : {}) }, entry);
      if (commits.length < record.commits.length) return; // it lies within this one
    }
    if (table.globalVersion < to) throw historyGone(this.#place, to, table.globalVersion); // removed while it was read
  }

  async #load(journal: Journal<JsonObject>): Promise<JournalHead> {
    const entries: JournalRecord<JsonObject>[] = [];
    let head = JOURNAL_START;
    for await (const entry of journal.readBackward()) {
      if (entry.kind !== 'record') continue; // whether a change is missing, the numbers tell
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
    if (this.#missing !== null) this.#missing = 0; // counted anew
    let table = new SharedTable();
    for (const [index, entry] of entries.entries()) {
      const record = decodeShared(entry.record);
      if (index === 0 && record?.snapshot) table = SharedTable.of(record.snapshot);
      if (!record || !table.isFollowedBy(record)) this.#miss(table, record, entry);
      if (record) table.apply(record, entry);
    }
    return table;
  }

  #apply(entry: JournalRecord<JsonObject>): void {
    const record = this.#next(this.#table, entry);
    if (record.snapshot?.recovered) {
      this.#table.restore(record.snapshot);
      this.#endDamage = 0;
      this.#options.onReload();
    }
    for (const change of this.#table.apply(record, entry)) this.#options.onChange(change);
  }

  /** Changes that may be missing, at most. */
  get #lost(): number {
    return (this.#missing ?? 0) + Math.ceil(this.#endDamage / CHANGE_BYTES_MIN);
  }

  /** A record that follows anything: all versions go up by what may have been lost, so that none is used twice. */
  #newBeginning(): JsonObject {
    const snapshot = raised(this.#table.image(Number.POSITIVE_INFINITY), this.#lost);
    const at = new Date(this.#options.nowMs()).toISOString();
    return encodeShared({ first: snapshot.globalVersion + 1, id: newRecordId(), at, commits: [], snapshot });
  }

  /** @throws JOURNAL_DAMAGED unless the record comes next */
  #next(table: SharedTable, entry: JournalRecord<JsonObject>): SharedRecord {
    const record = decodeShared(entry.record);
    if (record && table.isFollowedBy(record)) return record;
    throw this.#damaged(entry);
  }

  /** A record that cannot be read, or one that does not come next: for `recover` it is counted what is missing. @throws JOURNAL_DAMAGED */
  #miss(table: SharedTable, record: SharedRecord | null, entry: JournalRecord<JsonObject>): void {
    if (this.#missing === null) throw this.#damaged(entry);
    const reached = Math.max(table.globalVersion, record ? record.first - 1 : 0);
    this.#missing += Math.max(1, reached - table.globalVersion);
    table.keys.globalVersion = reached;
  }

  #damaged({ seq }: JournalRecord<JsonObject>): RekindleError {
    const why = `record ${seq} does not follow the one before`;
    const text = `${this.#place.join('/')} cannot be followed: ${why}.`;
    return new RekindleError('JOURNAL_DAMAGED', text, { details: { name: [...this.#place], why } });
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}

async function isAt(reader: Journal<JsonObject>, { seq, cursor }: SnapshotPlace): Promise<boolean> {
  try {
    for await (const entry of reader.read({ after: seq - 1, cursor, limit: 1 }))
      if (entry.kind === 'record') return entry.seq === seq;
  } catch (thrown) {
    if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown; // its segment is not there
  }
  return false;
}
