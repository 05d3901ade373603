/**
 * Reads the value of a channel from the records with its parts, and finds what a new value shares with
 * existing ones.
 */
import { isDeepStrictEqual } from 'node:util';
import { isRekindleError } from '../../core/errors.js';
import { BASE_MIN, type KnownValue, type ValuePart } from './known-values.js';
import { bytesOf, bytesOfInline, type DumpedValue } from './stored-value.js';
import type { ThreadIndex } from './thread-index.js';
import type { ThreadLog } from './thread-log.js';
import type { ThreadRecord } from './thread-record.js';
import { type ChannelValue, type Delta, deltaAgainst, isWhole } from './value-delta.js';

/**
 * Values of one version that a new one is compared with. Limited, so that many forks of one checkpoint do not
 * slow each other down.
 */
const COMPARED_MAX = 8;
/** Records of a long value that are read at once. */
const READ_MAX = 64;

export interface ValueSource {
  readonly log: ThreadLog;
  readonly index: ThreadIndex;
}

interface Prefix {
  readonly bytes: Uint8Array;
  readonly parts: readonly ValuePart[];
}

/** The value of a channel in a record. @throws JOURNAL_DAMAGED, BLOB_DAMAGED */
export async function knownValue(source: ValueSource, channel: string, seq: number): Promise<KnownValue> {
  const { log, index } = source;
  const known = index.known.find(channel, seq);
  if (known) return known;
  const value = channelValueIn(await log.record(index, seq), channel);
  if (!value) throw log.notThere(seq);
  const { type } = value;
  const prefix = await prefixOf(source, { channel, type, seq, length: Number.POSITIVE_INFINITY });
  if ('delta' in value && !isWhole(prefix.bytes, value.delta)) throw log.notThere(seq);
  const found = { channel, seq, type, ...prefix };
  index.known.add(found);
  return found;
}

/** The last of some records with an equal value. */
export async function equalValue(
  source: ValueSource,
  channel: string,
  seqs: readonly number[],
  dumped: DumpedValue,
): Promise<number | undefined> {
  for (const seq of seqs.slice(-COMPARED_MAX).reverse())
    if (await isEqual(source, channel, seq, dumped)) return seq;
  return undefined;
}

/**
 * Two whole values are equal if their stored forms are. For a delta, its checksum excludes most unequal
 * values.
 */
async function isEqual(
  source: ValueSource,
  channel: string,
  seq: number,
  dumped: DumpedValue,
): Promise<boolean> {
  const { log, index } = source;
  const value = channelValueIn(await log.record(index, seq), channel);
  if (!value || !('delta' in value)) return isDeepStrictEqual(value, dumped.stored);
  if (value.type !== dumped.stored.type || !isWhole(dumped.bytes, value.delta)) return false;
  const known = await readable(knownValue(source, channel, seq));
  return known !== null && Buffer.compare(known.bytes, dumped.bytes) === 0;
}

/** Null: store the value whole. */
export async function deltaTo(
  source: ValueSource,
  channel: string,
  seq: number | undefined,
  dumped: DumpedValue,
): Promise<Delta | null> {
  if (seq === undefined || dumped.bytes.length < BASE_MIN) return null;
  const before = await readable(knownValue(source, channel, seq));
  return before && deltaAgainst(before, dumped);
}

/** Null if it is damaged: the thread can continue with values stored whole. */
async function readable(reading: Promise<KnownValue>): Promise<KnownValue | null> {
  try {
    return await reading;
  } catch (thrown) {
    if (isRekindleError(thrown, 'JOURNAL_DAMAGED') || isRekindleError(thrown, 'BLOB_DAMAGED')) return null;
    throw thrown;
  }
}

function channelValueIn(record: ThreadRecord, channel: string): ChannelValue | null {
  const rows = record.type === 'checkpoint' ? record.channels : [];
  const value = rows.find(([name]) => name === channel)?.[2];
  return typeof value === 'object' ? value : null;
}

interface Wanted {
  readonly channel: string;
  readonly type: string;
  readonly seq: number;
  /** At most this many of its bytes. */
  readonly length: number;
}

/** Reads from the last bytes to the first: each record names an older one with the bytes before its own. */
async function prefixOf({ log, index }: ValueSource, wanted: Wanted): Promise<Prefix> {
  const { channel, type } = wanted;
  let { seq, length } = wanted;
  const bytes: Uint8Array[] = [];
  const parts: ValuePart[] = [];
  for (;;) {
    const known = index.known.find(channel, seq, length);
    if (known?.type === type) {
      bytes.push(known.bytes.subarray(0, length));
      parts.push(...known.parts.filter(({ start }) => start < length).reverse());
      break;
    }
    const more = Math.min(parts.length, READ_MAX); // read more records at once the longer the value is
    const value = channelValueIn(await log.record(index, seq, more), channel);
    if (value?.type !== type) throw log.notThere(seq);
    if (!('delta' in value)) {
      bytes.push((await bytesOf(value, log.blobs)).subarray(0, length));
      parts.push({ seq, start: 0 });
      break;
    }
    const { base, keep } = value.delta;
    const rest = bytesOfInline(value.delta);
    if (base >= seq) throw log.notThere(seq);
    if (keep < length && rest.length > 0) {
      bytes.push(rest.subarray(0, length - keep));
      parts.push({ seq, start: keep });
    }
    [seq, length] = [base, Math.min(length, keep)];
  }
  return { bytes: Buffer.concat(bytes.reverse()), parts: parts.reverse() };
}
