/** The reducer of a shared state: the state after the records of its journal. No I/O. */
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { JournalRecord } from '../../storage/ports.js';
import { type KeyChange, type KeyOperation, payloadBytes } from './key-change.js';
import { KeyLayer, type KeyState } from './key-layer.js';
import type { SharedRecord, SnapshotPlace, StateImage } from './shared-record.js';

/** One change of one key. */
export interface StateChange {
  /** Its number among all changes of the state: from 1, without gaps. */
  readonly globalVersion: number;
  /** The last number of its commit, which is applied all or nothing. */
  readonly lastOfCommit: number;
  readonly key: string;
  readonly version: number;
  readonly op: KeyOperation;
  /** The new value; undefined after a deletion. */
  readonly value: JsonValue | undefined;
  /** Bytes of the value as JSON; 0 after a deletion. */
  readonly bytes: number;
  /** Id of the history that led here. Two stores with the same version and id have the same history. */
  readonly history: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The acting session. */
  readonly by: string;
}

export class SharedTable {
  readonly keys = new KeyLayer(null);
  /** Approximate bytes of changes since the last snapshot. */
  sinceSnapshot = 0;
  /** Snapshots known to be in the journal, oldest first. */
  snapshots: SnapshotPlace[] = [];
  /** See `StateImage.historyFrom`. */
  historyFrom = 0;
  /** The id of the last record; empty before the first change. */
  history = '';

  /** The state of a snapshot. */
  static of(image: StateImage): SharedTable {
    const table = new SharedTable();
    table.restore(image);
    return table;
  }

  /** Replaces everything with the snapshot; other keys are dropped. */
  restore(image: StateImage): void {
    const named = new Set(image.keys.map(({ key }) => key));
    for (const { key } of [...this.keys.own()]) if (!named.has(key)) this.keys.forget(key);
    for (const state of image.keys) this.keys.put(state);
    this.keys.globalVersion = image.globalVersion;
    this.keys.versionFloor = image.versionFloor;
    this.snapshots = [...image.earlier];
    this.historyFrom = image.historyFrom;
    this.history = image.history;
  }

  get globalVersion(): number {
    return this.keys.globalVersion;
  }

  /** Whether a record is the next one. A snapshot written after damage may follow anything. */
  isFollowedBy({ first, snapshot }: SharedRecord): boolean {
    return first === this.globalVersion + 1 || (snapshot?.recovered ?? false);
  }

  /** Applies a record, which must be the next one. Returns its changes, in order. */
  apply(record: SharedRecord, place: Pick<JournalRecord<JsonObject>, 'seq' | 'cursor'>): StateChange[] {
    const { snapshot } = record;
    if (snapshot) {
      for (const key of snapshot.forgotten) this.keys.forget(key);
      this.snapshots.push({ seq: place.seq, cursor: place.cursor, globalVersion: snapshot.globalVersion });
      this.sinceSnapshot = 0;
    }
    if (record.commits.length > 0 || snapshot?.recovered) this.history = record.id;
    const applied: StateChange[] = [];
    for (const { by, changes } of record.commits) {
      const lastOfCommit = this.globalVersion + changes.length;
      for (const change of changes) {
        const state = this.keys.apply(change, { by, at: record.at });
        this.sinceSnapshot += payloadBytes(change);
        applied.push(changeOf(state, change, lastOfCommit, record.id));
      }
    }
    return applied;
  }

  image(tombstonesMax: number): StateImage {
    const forgotten = this.#oldTombstones(tombstonesMax);
    const gone = new Set(forgotten);
    const floors = forgotten.map((key) => this.keys.get(key)?.version ?? 0);
    return {
      globalVersion: this.globalVersion,
      versionFloor: Math.max(this.keys.versionFloor, ...floors),
      keys: [...this.keys.own()].filter(({ key }) => !gone.has(key)),
      earlier: this.snapshots,
      forgotten,
      historyFrom: this.historyFrom,
      recovered: false,
      history: this.history,
    };
  }

  #oldTombstones(max: number): string[] {
    const tombstones = [...this.keys.own()].filter(({ value }) => value === undefined);
    tombstones.sort((a, b) => b.globalVersion - a.globalVersion);
    return tombstones.slice(max).map(({ key }) => key);
  }
}

function changeOf(
  state: KeyState,
  { effect }: KeyChange,
  lastOfCommit: number,
  history: string,
): StateChange {
  const { key, version, value, bytes, updatedAt: at, updatedBy: by, globalVersion } = state;
  return { globalVersion, lastOfCommit, key, version, op: effect.op, value, bytes, history, at, by };
}
