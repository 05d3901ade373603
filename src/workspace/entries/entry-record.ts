/**
 * One change of an entry, as the journal `entries.jsonl` stores it.
 *
 *     {"key":"error_patterns","version":3,"at":"2026-03-01T10:00:00.000Z","written_by":"analyst","event":"write","data":[...],"prev":[1,512]}
 *
 * `prev` is the place of the version before, so that the history of one key is found without reading others.
 */
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { Cursor } from '../../storage/ports.js';

export type EntryEventKind = 'write' | 'delete' | 'rollback';

export interface EntryRecord {
  readonly key: string;
  /** Starts at 1 and grows by one with each change of the key, also after a deletion. */
  readonly version: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly writtenBy: string;
  readonly event: EntryEventKind;
  /** Undefined for a deletion. */
  readonly data: JsonValue | undefined;
  /** The version that a rollback restored. */
  readonly from: number | null;
  readonly prev: Cursor | null;
}

export function encodeEntry(entry: EntryRecord): JsonObject {
  const { key, version, at, writtenBy, event, data, from, prev } = entry;
  return {
    key,
    version,
    at,
    written_by: writtenBy,
    event,
    ...(from === null ? {} : { from }),
    ...(data === undefined ? {} : { data }),
    ...(prev === null ? {} : { prev: [prev.segment, prev.offset] }),
  };
}

/** Null for a row of another shape. */
export function decodeEntry(row: JsonObject): EntryRecord | null {
  const { key, version, at, written_by: writtenBy, event, data, from, prev } = row;
  if (typeof key !== 'string' || typeof version !== 'number' || typeof at !== 'string') return null;
  if (typeof writtenBy !== 'string' || !isEvent(event) || (event !== 'delete' && data === undefined))
    return null;
  return {
    key,
    version,
    at,
    writtenBy,
    event,
    data: event === 'delete' ? undefined : data,
    from: typeof from === 'number' ? from : null,
    prev: cursorFrom(prev),
  };
}

function isEvent(value: unknown): value is EntryEventKind {
  return value === 'write' || value === 'delete' || value === 'rollback';
}

export function cursorFrom(value: JsonValue | undefined): Cursor | null {
  if (!Array.isArray(value)) return null;
  const [segment, offset] = value;
  return typeof segment === 'number' && typeof offset === 'number' ? { segment, offset } : null;
}
