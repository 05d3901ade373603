/**
 * A value of a channel as it differs from an earlier one. A graph appends to a list of messages in every step: stored whole each time,
 * a thread would grow with the square of its messages.
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

/** The first `keep` bytes are those of the channel's value in the record `base`; then come the bytes that are here. */
export type ValueDelta = InlineContent & {
  readonly base: number;
  readonly keep: number;
  /** CRC-32 of the whole value: a base that is not what it was gives no wrong one. */
  readonly crc: string;
};

/**
 * What a checkpoint record has of a channel. A release that knows no deltas finds none of its own forms in one, and refuses the journal:
 * that is why `text` and `base64` stand inside.
 */
export type ChannelValue = StoredValue | DeltaValue;

export interface DeltaValue {
  readonly type: string;
  readonly delta: ValueDelta;
}

/** Records that are read for one value. One more, and it is stored whole again. */
const PARTS_MAX = 1024;
/** Where two values differ is first looked for in steps of this size. */
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

/** A delta that may be stored, and the records that have what it keeps. */
export interface Delta {
  readonly value: DeltaValue;
  readonly parts: readonly ValuePart[];
}

/** Null where it is better stored whole. */
export function deltaAgainst(before: KnownValue, { stored, bytes }: DumpedValue): Delta | null {
  if (before.type !== stored.type) return null;
  const keep = sharedLength(before.bytes, bytes);
  const rest = bytes.subarray(keep);
  if (keep < BASE_MIN || keep < bytes.length / 2 || rest.length > INLINE_BYTES_MAX) return null;
  const parts = before.parts.filter(({ start }) => start < keep);
  if (parts.length >= PARTS_MAX) return null;
  // The record that has the last of the bytes that are kept: so every record that is read gives something.
  const base = parts.at(-1)!.seq;
  const delta = { base, keep, crc: crcHex(crc32(bytes)), ...inlineContentOf(rest) };
  return { value: { type: stored.type, delta }, parts };
}

/** What is known of a value when the record that it was stored in has its number. */
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

/** Of the bytes with which both begin; not within a character of UTF-8, so that what follows can be text, too. */
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
