/**
 * One record of the journal `changes.jsonl`: commits that were decided together, in order. A commit is stored
 * completely or not at all. Waiting commits share a record, so that they share its sync.
 *
 *     {"first":15,"id":"q3Xv9aTz","at":"2026-03-01T10:00:00.000Z","commits":[{"by":"child_a","changes":[{"key":"done","version":3,"op":"increment","delta":1}]}]}
 *
 * From time to time a record begins with a snapshot of the state before its changes. Readers never need
 * records before it, so those may be removed.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { Cursor } from '../../storage/ports.js';
import { decodeChange, encodeChange, type KeyChange } from './key-change.js';
import type { KeyState } from './key-layer.js';

export interface Commit {
  /** The acting session. */
  readonly by: string;
  readonly changes: readonly KeyChange[];
}

/** The place of a record with a snapshot. */
export interface SnapshotPlace {
  readonly seq: number;
  readonly cursor: Cursor;
  /** The global version of its state. */
  readonly globalVersion: number;
}

export interface StateImage {
  readonly globalVersion: number;
  readonly versionFloor: number;
  readonly keys: readonly KeyState[];
  /** Earlier snapshots that are still in the journal, oldest first. */
  readonly earlier: readonly SnapshotPlace[];
  /** Tombstones that this snapshot dropped. */
  readonly forgotten: readonly string[];
  /** Versions before it cannot be read: 0, or the version at which the state was recovered after damage. */
  readonly historyFrom: number;
  /** Written after damage: changes between this record and the one before may be missing. */
  readonly recovered: boolean;
  /** The id of the record before it; empty before the first change. */
  readonly history: string;
}

export interface SharedRecord {
  /**
   * A random id of this record. A version together with the id of its record identifies one history: a store
   * restored from a backup writes the same versions again with other ids.
   */
  readonly id: string;
  /** The global version of the first change; without changes, that of the state plus one. */
  readonly first: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly commits: readonly Commit[];
  readonly snapshot: StateImage | null;
}

export function encodeShared({ first, id, at, commits, snapshot }: SharedRecord): JsonObject {
  return {
    ...(snapshot ? { snapshot: encodeImage(snapshot) } : {}),
    first,
    id,
    at,
    commits: commits.map(({ by, changes }) => ({ by, changes: changes.map(encodeChange) })),
  };
}

function encodeImage(image: StateImage): JsonObject {
  return {
    global_version: image.globalVersion,
    version_floor: image.versionFloor,
    keys: image.keys.map(encodeKey),
    earlier: image.earlier.map(({ seq, cursor, globalVersion }) => [
      seq,
      cursor.segment,
      cursor.offset,
      globalVersion,
    ]),
    ...(image.forgotten.length > 0 ? { forgotten: [...image.forgotten] } : {}),
    ...(image.historyFrom > 0 ? { history_from: image.historyFrom } : {}),
    ...(image.recovered ? { recovered: true } : {}),
    ...(image.history === '' ? {} : { history: image.history }),
  };
}

function encodeKey(state: KeyState): JsonObject {
  const { key, version, value, bytes, createdAt, updatedAt, updatedBy, globalVersion } = state;
  return {
    key,
    version,
    ...(value === undefined ? {} : { value, bytes }),
    created_at: createdAt,
    updated_at: updatedAt,
    updated_by: updatedBy,
    global_version: globalVersion,
  };
}

/** Null for a row of another shape. */
export function decodeShared(row: JsonObject): SharedRecord | null {
  const { first, at, commits, snapshot } = row;
  if (typeof first !== 'number' || typeof at !== 'string' || !Array.isArray(commits)) return null;
  const decoded = commits.map(decodeCommit);
  const image = snapshot === undefined ? null : decodeImage(snapshot);
  if (decoded.includes(null) || (snapshot !== undefined && !image)) return null;
  const id = typeof row['id'] === 'string' ? row['id'] : at; // records of earlier releases have no id
  return { first, id, at, commits: decoded as Commit[], snapshot: image };
}

function decodeCommit(row: JsonValue): Commit | null {
  if (!isJsonObject(row) || typeof row['by'] !== 'string' || !Array.isArray(row['changes'])) return null;
  const changes = row['changes'].map(decodeChange);
  return changes.includes(null) ? null : { by: row['by'], changes: changes as KeyChange[] };
}

function decodeImage(row: JsonValue): StateImage | null {
  if (!isJsonObject(row)) return null;
  const { global_version: globalVersion, version_floor: versionFloor, keys, earlier, forgotten = [] } = row;
  if (typeof globalVersion !== 'number' || typeof versionFloor !== 'number') return null;
  if (!Array.isArray(keys) || !Array.isArray(earlier) || !Array.isArray(forgotten)) return null;
  return {
    globalVersion,
    versionFloor,
    keys: keys.map(decodeKey),
    earlier: earlier.map(decodePlace),
    forgotten: forgotten.map(String),
    historyFrom: Number(row['history_from'] ?? 0),
    recovered: row['recovered'] === true,
    history: typeof row['history'] === 'string' ? row['history'] : '',
  };
}

/** The line has a checksum, so its content is what was written. */
function decodeKey(row: JsonValue): KeyState {
  const { key, version, value, bytes, created_at, updated_at, updated_by, global_version } =
    row as JsonObject;
  return {
    key: String(key),
    version: Number(version),
    value,
    bytes: Number(bytes ?? 0),
    createdAt: String(created_at),
    updatedAt: String(updated_at),
    updatedBy: String(updated_by),
    globalVersion: Number(global_version),
  };
}

function decodePlace(row: JsonValue): SnapshotPlace {
  const [seq, segment, offset, globalVersion] = (row as JsonValue[]).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  return { seq, cursor: { segment, offset }, globalVersion };
}
