/**
 * Writes a clean copy of a damaged segment and keeps the old file.
 *
 * The copy has the same length, so positions in it stay valid. Damaged bytes become white space and, if a record may
 * have been lost, a mark that explains the gap in the numbers. Bytes behind the seal are left out.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { FileSystem } from '../file-system.js';
import type { JournalDamage, SegmentRepair } from '../ports.js';
import { copyDurably, withFile } from './file-io.js';
import { LOST_MARK } from './journal-line.js';
import { readForward, type SegmentRange } from './journal-reader.js';
import { SequenceCheck } from './sequence-check.js';

const REPAIRABLE = new Set<JournalDamage['reason']>([
  'checksum',
  'not-json',
  'torn',
  'too-long',
  'sequence-repeated',
]);

const NEWLINE = Buffer.from('\n');
const MARKED = Buffer.from(`\n${LOST_MARK}`);
const BLANK_LINE_BYTES = 64 * 1024;

/**
 * Null if the segment is not damaged. Uses two renames; if a crash separates them, both files exist and the next repair
 * continues.
 */
export async function repairSegment(fs: FileSystem, range: SegmentRange): Promise<SegmentRepair | null> {
  const { segment } = range;
  const damage: JournalDamage[] = [];
  for await (const entry of readForward(fs, range, new SequenceCheck(segment.header?.prevSeq ?? 0))) {
    if (entry.kind === 'damage' && REPAIRABLE.has(entry.reason)) damage.push(entry);
  }
  const beyond = segment.live ? 0 : segment.sizeBytes - range.to;
  if (damage.length === 0 && beyond === 0) return null;
  const parts = damage.map(({ cursor, bytes }) => ({ offset: cursor.offset, bytes }));
  const kept = await replaceByClean(fs, segment.path, { to: range.to, parts, keep: true });
  return { place: path.basename(segment.path), kept, ranges: damage.length, bytesBeyondSeal: beyond };
}

/** A part of a file. */
export interface BytePart {
  readonly offset: number;
  readonly bytes: number;
}

/** Replaces a part by white space, with the mark at its start. */
function blank(piece: Buffer, base: number, { offset, bytes: length }: BytePart): void {
  const start = offset - base;
  const from = Math.max(0, start);
  const to = Math.min(piece.length, start + length);
  if (from >= to) return;
  piece.fill(0x20, from, to);
  // Lines of spaces, each of limited length.
  const first = Math.ceil((from - start) / BLANK_LINE_BYTES) * BLANK_LINE_BYTES;
  for (let at = start + first; at < to; at += BLANK_LINE_BYTES) piece[at] = 0x0a;
  const head = length >= LOST_MARK.length + 2 ? MARKED : NEWLINE;
  for (const [index, byte] of head.entries()) put(piece, start + index, byte);
  put(piece, start + length - 1, 0x0a);
}

function put(piece: Buffer, at: number, byte: number): void {
  if (at >= 0 && at < piece.length) piece[at] = byte;
}

interface CleanCopy {
  readonly to: number;
  readonly parts: readonly BytePart[];
  /** Keeps the old file under the returned name. */
  readonly keep: boolean;
}

export async function replaceByClean(
  fs: FileSystem,
  target: string,
  { to, parts, keep }: CleanCopy,
): Promise<string> {
  const tag = randomBytes(4).toString('hex');
  const clean = `${target}.clean-${tag}`;
  const kept = `${target}.damaged-${tag}`;
  const edit = (piece: Buffer, base: number) => {
    for (const part of parts) blank(piece, base, part);
  };
  await withFile(await fs.open(target, 'read'), (file) =>
    copyDurably(fs, file, clean, { from: 0, to }, edit),
  );
  if (keep) await fs.link(target, kept);
  if (keep) await fs.syncFolder(path.dirname(target));
  await fs.rename(clean, target);
  await fs.syncFolder(path.dirname(target));
  return path.basename(kept);
}
