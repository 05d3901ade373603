/** The journal of one shared state, `changes.jsonl`: the current state and its history. */
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
  /** Minimum of changes kept in the history. */
  readonly history: number;
  readonly tombstones: number;
  readonly waitMs?: number;
  readonly nowMs: () => number;
  /** Called with each change, by any process, in order. Not for changes before it was opened. */
  readonly onChange: (change: StateChange) => void;
  /** The state was read again: changes may have been missed. */
  readonly onReload: () => void;
}

/** A snapshot is written when the changes since the last one are as long as the state, but not below this size. */
const SNAPSHOT_BYTES_MIN = 64 * 1024;
/** Bytes of history that are removed at once. */
const SEGMENT_BYTES = 1024 * 1024;
/** The shortest change that a damaged range can contain. */
const CHANGE_BYTES_MIN = 30;

export class SharedLog {
  readonly #journal: SharedJournal<JsonObject>;
  readonly #place: Name;
  readonly #options: SharedLogOptions;
  #table = new SharedTable();
  #loaded = false;
  /** Damaged bytes after the last record. */
  #endDamage = 0;
  /** Number of changes missing in the middle. Counted only for `recover`; else an error is thrown. */
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
   * Continues after damage with what can be read.
   * @returns how many changes may be missing; 0 if there was no damage, and nothing was written
   */
  static async recover(backend: StorageBackend, options: SharedLogOptions): Promise<number> {
    const log = new SharedLog(backend, options);
    log.#missing = 0;
    try {
      const reader = await log.#journal.reader(); // writes nothing if there is no damage
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

  /** The newest state known here. */
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
   * Appends one record, decided on the newest state. `decide` returns the commits, or null if nothing changes.
   * @throws JOURNAL_DAMAGED, and as `SharedJournal.change`
   */
  async change(decide: () => Pick<SharedRecord, 'at' | 'commits'> | null): Promise<void> {
    let snapshot: StateImage | null = null;
    const isDone = await this.#journal.change(async (): Promise<Decision<JsonObject, boolean>> => {
      // The last bytes are torn or damaged. Their changes are unknown, so their versions are skipped.
      if (this.#endDamage > 0) return { record: this.#newBeginning(), done: () => false };
      const decided = decide();
      if (!decided) return { secure: true, done: () => true }; // a refusal also depends on what is durable
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

  /** Removes history before a snapshot that has enough history after it. A failure is harmless: the next attempt does it. */
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

  /** The changes after a global version, in order, with values. @throws HISTORY_GONE if some of them were removed */
  async *changesAfter(globalVersion: number): AsyncGenerator<StateChange> {
    await this.refresh();
    const table = await this.#startAt(globalVersion);
    for await (const changes of this.#replay(table, this.#table.globalVersion))
      for (const change of changes) if (change.globalVersion > globalVersion) yield change;
  }

  /** Whether this history continues from a caller's version. @param history id for that version; not compared if undefined */
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

  /** The state at a version. For a version inside a commit: the state before that commit. @throws HISTORY_GONE */
  async at(globalVersion: number): Promise<SharedTable> {
    await this.refresh();
    const table = await this.#startAt(globalVersion);
    for await (const _ of this.#replay(table, globalVersion));
    return table;
  }

  /** Starts at the oldest state that is still stored. */
  async *wholeHistory(): AsyncGenerator<StateChange> {
    await this.refresh();
    const table = await this.#oldest();
    for await (const changes of this.#replay(table, this.#table.globalVersion)) yield* changes;
  }

  /** The state can be read at versions above this one. */
  async oldestVersion(): Promise<number> {
    await this.refresh();
    return (await this.#oldest()).globalVersion;
  }

  /** The newest readable state at or before a version. */
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

  /** The state of a snapshot, with its own place last; null if it was removed meanwhile. */
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
    // In a copy of the store the record has the same number at another place.
    for await (const entry of reader.read(place ? { after: place.seq - 1 } : {}))
      if (entry.kind === 'record') yield entry;
  }

  /** Replays a table from its snapshot up to a version, commit by commit. */
  async *#replay(table: SharedTable, to: number): AsyncGenerator<StateChange[]> {
    const place = table.snapshots[0];
    for await (const entry of this.#from(place)) {
      if (table.globalVersion >= to) return;
      const record = this.#next(table, entry);
      if (record.snapshot?.recovered) table.restore(record.snapshot);
      const commits = record.commits.filter(fitting(table.globalVersion, to));
      const own = entry.seq === place?.seq;
      yield table.apply({ ...record, commits, ...(own ? { snapshot: null } : {}) }, entry);
      if (commits.length < record.commits.length) return; // the version is inside this commit
    }
    if (table.globalVersion < to) throw historyGone(this.#place, to, table.globalVersion); // removed while reading
  }

  async #load(journal: Journal<JsonObject>): Promise<JournalHead> {
    const entries: JournalRecord<JsonObject>[] = [];
    let head = JOURNAL_START;
    for await (const entry of journal.readBackward()) {
      if (entry.kind !== 'record') continue; // a missing change is detected by the numbers
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
    if (this.#missing !== null) this.#missing = 0; // count again from the start
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

  /** The maximum number of changes that may be missing. */
  get #lost(): number {
    return (this.#missing ?? 0) + Math.ceil(this.#endDamage / CHANGE_BYTES_MIN);
  }

  /** A record that may follow anything: it raises all versions by the number of possibly lost changes, so that none is reused. */
  #newBeginning(): JsonObject {
    const snapshot = raised(this.#table.image(Number.POSITIVE_INFINITY), this.#lost);
    const at = new Date(this.#options.nowMs()).toISOString();
    return encodeShared({ first: snapshot.globalVersion + 1, id: newRecordId(), at, commits: [], snapshot });
  }

  /** @throws JOURNAL_DAMAGED unless the record is the next one */
  #next(table: SharedTable, entry: JournalRecord<JsonObject>): SharedRecord {
    const record = decodeShared(entry.record);
    if (record && table.isFollowedBy(record)) return record;
    throw this.#damaged(entry);
  }

  /** For a record that is unreadable or out of order: `recover` counts what is missing. @throws JOURNAL_DAMAGED otherwise */
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
    if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown; // its segment was removed
  }
  return false;
}
