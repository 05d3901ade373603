/**
 * Writes a clean copy of a damaged segment and keeps the old file.
 *
 * The copy has the same length, so places in it stay valid: damaged bytes give way to white space and, where a record may have
 * been lost, a mark that explains the gap in the numbers. What lay behind the seal is left out of the copy.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { FileSystem } from '../file-system.js';
import type { JournalDamage, SegmentRepair } from '../ports.js';
import { createDurably, readRange, withFile } from './file-io.js';
import { LOST_MARK } from './journal-line.js';
import { readForward, type SegmentRange } from './journal-reader.js';
import { SequenceCheck } from './sequence-check.js';

const REPAIRABLE = new Set<JournalDamage['reason']>(['checksum', 'not-json', 'torn', 'sequence-repeated']);

/** Null when the segment needs none. Two renames: a crash between them leaves both files, and the next repair goes on. */
export async function repairSegment(fs: FileSystem, range: SegmentRange): Promise<SegmentRepair | null> {
  const { segment } = range;
  const damage: JournalDamage[] = [];
  for await (const entry of readForward(fs, range, new SequenceCheck(segment.header?.prevSeq ?? 0))) {
    if (entry.kind === 'damage' && REPAIRABLE.has(entry.reason)) damage.push(entry);
  }
  const beyond = segment.live ? 0 : segment.sizeBytes - range.to;
  if (damage.length === 0 && beyond === 0) return null;
  const bytes = await withFile(await fs.open(segment.path, 'read'), (file) => readRange(file, 0, range.to));
  for (const item of damage) blank(bytes, item.cursor.offset, item.bytes);
  return replaceBy(fs, segment.path, bytes, damage.length, beyond);
}

function blank(bytes: Buffer, start: number, length: number): void {
  bytes.fill(0x20, start, start + length);
  bytes[start] = 0x0a;
  if (length >= LOST_MARK.length + 2) bytes.write(LOST_MARK, start + 1, 'latin1');
  bytes[start + length - 1] = 0x0a;
}

async function replaceBy(
  fs: FileSystem,
  target: string,
  bytes: Buffer,
  ranges: number,
  bytesBeyondSeal: number,
): Promise<SegmentRepair> {
  const tag = randomBytes(4).toString('hex');
  const clean = `${target}.clean-${tag}`;
  const kept = `${target}.damaged-${tag}`;
  await createDurably(fs, clean, bytes);
  await fs.link(target, kept);
  await fs.syncFolder(path.dirname(target));
  await fs.rename(clean, target);
  await fs.syncFolder(path.dirname(target));
  return { place: path.basename(target), kept: path.basename(kept), ranges, bytesBeyondSeal };
}
