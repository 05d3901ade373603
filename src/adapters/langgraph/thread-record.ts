/**
 * The records of a thread's journal: one per `put` and one per `putWrites`. A section replaces all records before it;
 * it takes effect with its last record, `end`.
 */
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '../../core/json.js';
import { isStoredValue, type StoredValue } from './stored-value.js';
import { type ChannelValue, isChannelValue } from './value-delta.js';

export type ChannelVersion = string | number;

/**
 * A channel of a checkpoint. Its value is stored in this record, or in the record with this number, or
 * missing. A version of null: the checkpoint names none.
 */
export type ChannelRow =
  | readonly [channel: string, version: ChannelVersion | null]
  | readonly [channel: string, version: ChannelVersion | null, value: number | ChannelValue];

/** A record of a section. */
interface InSection {
  /** The number of the section's first record. */
  readonly in?: number;
}

export interface CheckpointRecord extends InSection {
  readonly type: 'checkpoint';
  readonly ns: string;
  readonly id: string;
  readonly parent?: string;
  readonly v: number;
  readonly ts: string;
  readonly seen: JsonObject;
  readonly channels: readonly ChannelRow[];
  readonly metadata: StoredValue;
}

export type WriteRow = readonly [idx: number, channel: string, value: StoredValue];

export interface WritesRecord extends InSection {
  readonly type: 'writes';
  readonly ns: string;
  readonly checkpoint: string;
  readonly task: string;
  readonly path: string;
  readonly writes: readonly WriteRow[];
}

/** The thread that was copied, and its last record at that time. */
export interface CopyOrigin {
  readonly thread: string;
  readonly seq: number;
  readonly crc: string | null;
}

export interface BeginRecord {
  readonly type: 'begin';
  readonly copy?: CopyOrigin;
}

export interface EndRecord {
  readonly type: 'end';
  readonly begin: number;
}

export type ContentRecord = CheckpointRecord | WritesRecord;
export type ThreadRecord = ContentRecord | BeginRecord | EndRecord;

/** Null for another shape, written by a newer release. */
export function decodeThreadRecord(row: JsonObject): ThreadRecord | null {
  if (row['type'] === 'checkpoint') return isCheckpoint(row) ? (row as unknown as CheckpointRecord) : null;
  if (row['type'] === 'writes') return isWrites(row) ? (row as unknown as WritesRecord) : null;
  if (row['type'] === 'begin') return isBegin(row) ? (row as unknown as BeginRecord) : null;
  if (row['type'] === 'end') return isNumber(row['begin']) ? (row as unknown as EndRecord) : null;
  return null;
}

/** The values that a record stores. */
export function valuesIn(record: ThreadRecord): ChannelValue[] {
  if (record.type === 'writes') return record.writes.map(([, , value]) => value);
  if (record.type !== 'checkpoint') return [];
  const values = record.channels.map(([, , value]) => value);
  return [record.metadata, ...values.filter((value) => typeof value === 'object')];
}

export function isVersion(value: unknown): value is ChannelVersion {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

function isCheckpoint(row: JsonObject): boolean {
  return (
    areTexts(row, 'ns', 'id', 'ts') &&
    (row['parent'] === undefined || typeof row['parent'] === 'string') &&
    typeof row['v'] === 'number' &&
    isJsonObject(row['seen']) &&
    isStoredValue(row['metadata']) &&
    isListOf(row['channels'], isChannelRow) &&
    isInSection(row)
  );
}

function isInSection({ in: begin }: JsonObject): boolean {
  return begin === undefined || isNumber(begin);
}

function isBegin({ copy }: JsonObject): boolean {
  if (copy === undefined) return true;
  if (!isJsonObject(copy)) return false;
  const { thread, seq, crc } = copy;
  return typeof thread === 'string' && isNumber(seq) && (crc === null || typeof crc === 'string');
}

function isNumber(value: JsonValue | undefined): boolean {
  return Number.isSafeInteger(value);
}

function isChannelRow([channel, version, value]: JsonArray): boolean {
  const isKnown = value === undefined || typeof value === 'number' || isChannelValue(value);
  return typeof channel === 'string' && (version === null || isVersion(version)) && isKnown;
}

function isWrites(row: JsonObject): boolean {
  return (
    areTexts(row, 'ns', 'checkpoint', 'task', 'path') &&
    isListOf(row['writes'], isWriteRow) &&
    isInSection(row)
  );
}

function isWriteRow([idx, channel, value]: JsonArray): boolean {
  return typeof idx === 'number' && typeof channel === 'string' && isStoredValue(value);
}

function areTexts(row: JsonObject, ...keys: string[]): boolean {
  return keys.every((key) => typeof row[key] === 'string');
}

function isListOf(value: JsonValue | undefined, isRow: (row: JsonArray) => boolean): boolean {
  return Array.isArray(value) && value.every((row) => Array.isArray(row) && isRow(row));
}
