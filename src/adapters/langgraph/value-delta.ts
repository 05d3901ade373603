/**
 * Stores a channel's value as the difference to an earlier one. A graph appends to its messages in every
 * step: stored whole, a thread would grow with the square of its messages.
 */
import { crc32, crcHex } from '../../core/crc32.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { BASE_MIN, type KnownValue, type ValuePart } from './known-values.js';
import {
  type DumpedValue,
  INLINE_BYTES_MAX,
  type InlineContent,
  inlineContentOf,
  isStoredValue,
  type StoredValue,
} from './stored-value.js';

/**
 * The first `keep` bytes are those of the channel's value in the record `base`; the bytes stored here follow.
 */
export type ValueDelta = InlineContent & {
  readonly base: number;
  readonly keep: number;
  /** CRC-32 of the whole value, so that a changed base cannot give a wrong value. */
  readonly crc: string;
};

/**
 * A channel's value in a checkpoint record. `text` and `base64` are nested inside `delta`, so that a release
 * without deltas recognises none of its forms and refuses the journal.
 */
export type ChannelValue = StoredValue | DeltaValue;

export interface DeltaValue {
  readonly type: string;
  readonly delta: ValueDelta;
}

/** Maximum of records to read for one value; beyond it, the value is stored whole again. */
const PARTS_MAX = 1024;
/** Step in bytes for finding where two values differ. */
const STEP = 4096;

export function isChannelValue(value: JsonValue | undefined): value is ChannelValue & JsonObject {
  if (!isJsonObject(value) || value['delta'] === undefined) return isStoredValue(value);
  const hasOther = ['text', 'base64', 'blob'].some((form) => value[form] !== undefined);
  return typeof value['type'] === 'string' && !hasOther && isDelta(value['delta']);
}

function isDelta(delta: JsonValue): boolean {
  if (!isJsonObject(delta)) return false;
  const { base, keep, crc, text, base64 } = delta;
  return (
    isCount(base) &&
    isCount(keep) &&
    typeof crc === 'string' &&
    [text, base64].filter((held) => typeof held === 'string').length === 1
  );
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** A delta to store, and the records with the parts that it keeps. */
export interface Delta {
  readonly value: DeltaValue;
  readonly parts: readonly ValuePart[];
}

/** Null if the value should be stored whole. */
export function deltaAgainst(before: KnownValue, { stored, bytes }: DumpedValue): Delta | null {
  if (before.type !== stored.type) return null;
  const keep = sharedLength(before.bytes, bytes);
  const rest = bytes.subarray(keep);
  if (keep < BASE_MIN || keep < bytes.length / 2 || rest.length > INLINE_BYTES_MAX) return null;
  const parts = before.parts.filter(({ start }) => start < keep);
  if (parts.length >= PARTS_MAX) return null;
  // The record with the last kept bytes, so that every record read contributes.
  const base = parts.at(-1)!.seq;
  const delta = { base, keep, crc: crcHex(crc32(bytes)), ...inlineContentOf(rest) };
  return { value: { type: stored.type, delta }, parts };
}

/** A value as known once its record has a number. */
export function knownAt(
  seq: number,
  channel: string,
  { stored: { type }, bytes }: DumpedValue,
  delta: Delta | null,
): KnownValue {
  const start = delta?.value.delta.keep ?? 0;
  const own = start < bytes.length ? [{ seq, start }] : [];
  return { channel, seq, type, bytes, parts: [...(delta?.parts ?? []), ...own] };
}

export function isWhole(bytes: Uint8Array, { crc }: ValueDelta): boolean {
  return crcHex(crc32(bytes)) === crc;
}

/** Length of the common prefix; not inside a UTF-8 character, so that the rest can be text, too. */
function sharedLength(a: Uint8Array, b: Uint8Array): number {
  const end = Math.min(a.length, b.length);
  let shared = 0;
  while (shared + STEP <= end && isSame(a, b, shared, shared + STEP)) shared += STEP;
  while (shared < end && a[shared] === b[shared]) shared += 1;
  for (let back = 0; back < 3 && isInCharacter(b[shared]); back += 1) shared -= 1;
  return Math.max(shared, 0);
}

function isSame(a: Uint8Array, b: Uint8Array, start: number, end: number): boolean {
  return Buffer.compare(a.subarray(start, end), b.subarray(start, end)) === 0;
}

function isInCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
