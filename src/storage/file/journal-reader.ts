/** Reads journal segments forward from a place, and backward from the end. Lines are split at byte 0x0A only. */
import path from 'node:path';
import type { JsonObject } from '../../core/json.js';
import type { FileSystem, OpenFile } from '../file-system.js';
import type { JournalDamage, JournalEntry } from '../ports.js';
import { readRange, withFile } from './file-io.js';
import { decodeLineParts, isBlank } from './journal-salvage.js';
import { openSegment, ownFiles, type Segment, type SegmentSource } from './journal-segments.js';
import {
  blockBefore,
  FIRST_CHUNK_BYTES,
  firstChunkFor,
  LINE_BYTES_MAX,
  type LineBlock,
  lineBlocks,
  startOfLine,
} from './line-blocks.js';
import { SequenceCheck } from './sequence-check.js';

export interface SegmentRange {
  readonly segment: Segment;
  readonly from: number;
  /** The position of its seal, or its size. */
  readonly to: number;
}

/** The parts of the segments that hold records. Each part ends where the header of the next segment seals it. */
export function sealedRanges(segments: readonly Segment[]): SegmentRange[] {
  return segments.map((segment, index) => {
    const next = segments[index + 1];
    // Only the direct successor seals a segment. If its header was lost, a later header says nothing about this segment.
    const header = next?.number === segment.number + 1 ? next.header : null;
    const to = header ? Math.min(header.prevLength, segment.sizeBytes) : segment.sizeBytes;
    return { segment, from: Math.min(segment.start, to), to };
  });
}

/** True if the first record of a range has its own number. */
export async function startsNumbered(fs: FileSystem, range: SegmentRange): Promise<boolean> {
  for await (const entry of readForward(fs, range, SequenceCheck.untilNumbered())) {
    if (entry.kind === 'record') return entry.crc !== null;
  }
  return true;
}

export interface ForwardOptions {
  /** Where the file comes from; by default it is opened for this range alone. */
  readonly files?: SegmentSource;
  /** About how many records the caller reads; default: all. */
  readonly records?: number | undefined;
}

/** All entries of one range, in order; `check` assigns the sequence numbers. */
export async function* readForward(
  fs: FileSystem,
  range: SegmentRange,
  check: SequenceCheck,
  { files = ownFiles(fs), records }: ForwardOptions = {},
): AsyncGenerator<JournalEntry<JsonObject>> {
  const file = await files.open(range.segment);
  try {
    for await (const block of lineBlocks(file, range.from, range.to, firstChunkFor(records)))
      yield* entriesOf(block, range.segment, check);
  } finally {
    await files.close(range.segment, file);
  }
}

function* entriesOf(
  block: LineBlock,
  segment: Segment,
  check: SequenceCheck,
): Generator<JournalEntry<JsonObject>> {
  if (block.bytes) yield* decodeBlock(block.bytes, block.start, segment, check);
  else yield tooLong(block.start, block.length, segment, check);
}

/** No record is this long, and it does not fit in one string. */
function tooLong(start: number, bytes: number, segment: Segment, check: SequenceCheck): JournalDamage {
  check.skipDamaged();
  return damage('too-long', segment, start, bytes);
}

/** Entries of whole lines (the last may lack its newline). */
export function* decodeBlock(
  bytes: Buffer,
  base: number,
  segment: Segment,
  check: SequenceCheck,
): Generator<JournalEntry<JsonObject>> {
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(0x0a, start);
    const next = newline < 0 ? bytes.length : newline + 1;
    const line = withoutReturn(bytes.subarray(start, newline < 0 ? bytes.length : newline));
    if (line.length > LINE_BYTES_MAX) yield tooLong(base + start, line.length, segment, check);
    else if (!isBlank(line)) yield* decodeOne(line, base + start, segment, check);
    start = next;
  }
}

function* decodeOne(
  line: Buffer,
  base: number,
  segment: Segment,
  check: SequenceCheck,
): Generator<JournalEntry<JsonObject>> {
  for (const part of decodeLineParts(line)) {
    const cursor = { segment: segment.number, offset: base + part.start };
    const bytes = part.end - part.start;
    const { decoded } = part;
    if (decoded.kind === 'damage') {
      check.skipDamaged();
      yield damage(decoded.reason, segment, cursor.offset, bytes);
    } else if (decoded.kind === 'lost') {
      check.skipDamaged();
    } else if (decoded.kind === 'record') {
      const verdict = check.next(decoded.seq);
      if (verdict.gap) yield damage('sequence-gap', segment, cursor.offset, 0);
      if (verdict.seq === null) yield damage('sequence-repeated', segment, cursor.offset, bytes);
      else yield { kind: 'record', seq: verdict.seq, record: decoded.record, cursor, crc: decoded.crc };
    }
  }
}

export function damage(
  reason: JournalDamage['reason'],
  segment: Segment,
  offset: number,
  bytes: number,
): JournalDamage {
  const place = path.basename(segment.path);
  return { kind: 'damage', reason, place, cursor: { segment: segment.number, offset }, bytes };
}

function withoutReturn(line: Buffer): Buffer {
  return line[line.length - 1] === 0x0d ? line.subarray(0, -1) : line;
}

/**
 * Entries of one range from its end to its start. Sequence numbers come from the lines themselves. If a line in a block
 * has none, the rest of the range is read forward once, because only counting gives its number.
 */
export async function* readRangeBackward(
  fs: FileSystem,
  range: SegmentRange,
  prevSeq: () => Promise<number>,
): AsyncGenerator<JournalEntry<JsonObject>> {
  const file = await openSegment(fs, range.segment);
  try {
    let to = range.to;
    for (let size = FIRST_CHUNK_BYTES; to > range.from; size = Math.min(FIRST_CHUNK_BYTES * 16, size * 4)) {
      const block = await blockBefore(file, range.from, to, size);
      const entries = [...entriesOf(block, range.segment, SequenceCheck.trusting())];
      if (entries.some((entry) => entry.kind === 'record' && entry.crc === null)) {
        yield* (await collect(fs, { ...range, to }, new SequenceCheck(await prevSeq()))).reverse();
        return;
      }
      yield* entries.reverse();
      to = block.start;
    }
  } finally {
    await file.close();
  }
}

async function collect(
  fs: FileSystem,
  range: SegmentRange,
  check: SequenceCheck,
): Promise<JournalEntry<JsonObject>[]> {
  const entries: JournalEntry<JsonObject>[] = [];
  for await (const entry of readForward(fs, range, check)) entries.push(entry);
  return entries;
}

/** The end of a segment: whether its last line is complete, and the last entries with their numbers. */
export interface SegmentEnd {
  /** Position after the last whole record. */
  readonly end: number;
  /** The last record is complete except for its newline. */
  readonly newlineMissing: boolean;
  /** Bytes after `end` that are not a record. */
  readonly tornBytes: number;
  readonly last: (JournalEntry<JsonObject> & { readonly kind: 'record' }) | null;
  /** Sequence number of the last record; the next record gets this plus one. */
  readonly seq: number;
}

export const NO_RECORDS: SegmentEnd = { end: 0, newlineMissing: false, tornBytes: 0, last: null, seq: 0 };

/** Reads the end of a segment; reads more only if lines have no numbers of their own. */
export async function findEnd(
  fs: FileSystem,
  segment: Segment,
  prevSeq: () => Promise<number>,
): Promise<SegmentEnd> {
  return withFile(await openSegment(fs, segment), async (file) => {
    const tail = await lastLine(file, segment);
    const whole = { segment, from: segment.start, to: tail.end };
    for (let size = FIRST_CHUNK_BYTES; ; size *= 16) {
      const start = Math.max(segment.start, tail.end - size);
      const seen = await endOf(file, segment, start, tail.end, start === segment.start ? prevSeq : null);
      if (seen) return { ...tail, ...seen };
      if (start === whole.from) return { ...tail, last: null, seq: await prevSeq() };
    }
  });
}

/** Sequence number before a segment: from its header, else from the segment before it, which may be archived. */
export async function seqBefore(
  fs: FileSystem,
  segments: readonly Segment[],
  index: number,
): Promise<number> {
  const segment = segments[index];
  if (segment?.header) return segment.header.prevSeq;
  if (index > 0) {
    return (await findEnd(fs, segments[index - 1]!, () => seqBefore(fs, segments, index - 1))).seq;
  }
  const archived = (await segment?.files.scanArchive(fs))?.at(-1);
  return archived ? (await findEnd(fs, archived, async () => archived.header?.prevSeq ?? 0)).seq : 0;
}

async function endOf(
  file: OpenFile,
  segment: Segment,
  start: number,
  end: number,
  prevSeq: (() => Promise<number>) | null,
): Promise<Pick<SegmentEnd, 'last' | 'seq'> | null> {
  const check = prevSeq ? new SequenceCheck(await prevSeq()) : SequenceCheck.untilNumbered();
  let last: SegmentEnd['last'] = null;
  let isInLine = prevSeq === null;
  for await (const found of lineBlocks(file, start, end)) {
    const block = isInLine ? afterFirstLine(found) : found;
    if (!block) return null;
    isInLine = false;
    for (const entry of entriesOf(block, segment, check)) if (entry.kind === 'record') last = entry;
  }
  return prevSeq || check.isNumbered ? { last, seq: check.lastSeq } : null;
}

/** Null if there is nothing else. */
function afterFirstLine({ start, bytes }: LineBlock): LineBlock | null {
  const newline = bytes?.indexOf(0x0a) ?? -1;
  return bytes && newline >= 0 ? { start: start + newline + 1, bytes: bytes.subarray(newline + 1) } : null;
}

/** The end of the last whole line, and what follows it. */
async function lastLine(
  file: OpenFile,
  segment: Segment,
): Promise<Pick<SegmentEnd, 'end' | 'newlineMissing' | 'tornBytes'>> {
  const size = segment.sizeBytes;
  const from = segment.start;
  if (size <= from) return { end: Math.min(size, from), newlineMissing: false, tornBytes: 0 };
  for (let length = FIRST_CHUNK_BYTES; ; length = Math.min(length * 16, LINE_BYTES_MAX + 1)) {
    const start = Math.max(from, size - length);
    const bytes = await readRange(file, start, size - start);
    const newline = bytes.lastIndexOf(0x0a);
    if (newline < 0 && bytes.length > LINE_BYTES_MAX) {
      const end = await startOfLine(file, from, start);
      return { end, newlineMissing: false, tornBytes: size - end };
    }
    if (newline < 0 && start > from) continue;
    const tail = bytes.subarray(newline + 1);
    const whole = wholeBytes(tail);
    return {
      end: start + newline + 1 + whole,
      newlineMissing: whole > 0,
      tornBytes: tail.length - whole,
    };
  }
}

/** Length of the whole records at the start of a last line without a newline. */
function wholeBytes(tail: Buffer): number {
  let whole = 0;
  for (const part of decodeLineParts(tail)) {
    if (part.start !== whole || part.decoded.kind !== 'record') break;
    whole = part.end;
  }
  return whole > 0 && isBlank(tail.subarray(whole)) ? tail.length : whole;
}
