/**
 * Erases records from a segment for good. The segment is replaced by a copy with white space and a mark in place of the
 * records, as after a repair. Damaged parts are erased too, and the old file is not kept.
 */
import path from 'node:path';
import { errnoOf, type FileSystem } from '../file-system.js';
import { withFile } from './file-io.js';
import type { SegmentRange } from './journal-reader.js';
import { type BytePart, replaceByClean } from './journal-repair.js';
import { decodeLineParts, isBlank } from './journal-salvage.js';
import { openSegment, type SegmentFiles } from './journal-segments.js';
import { type LineBlock, lineBlocks } from './line-blocks.js';
import { SequenceCheck } from './sequence-check.js';

/** Returns the number of erased records. @param seqs numbers that are not present are skipped */
export async function eraseFromSegment(
  fs: FileSystem,
  range: SegmentRange,
  seqs: ReadonlySet<number>,
): Promise<number> {
  const { segment } = range;
  const check = new SequenceCheck(segment.header?.prevSeq ?? 0);
  const gone: BytePart[] = [];
  let records = 0;
  await withFile(await openSegment(fs, segment), async (file) => {
    for await (const block of lineBlocks(file, range.from, range.to))
      for (const { seq, ...part } of partsOf(block, check)) {
        if (seq !== null && !seqs.has(seq)) continue;
        gone.push(part);
        if (seq !== null) records += 1;
      }
  });
  const beyond = segment.live ? 0 : segment.sizeBytes - range.to;
  if (gone.length > 0 || beyond > 0)
    await replaceByClean(fs, segment.path, { to: range.to, parts: gone, keep: false });
  return records;
}

/** Removes cut-off tails, files kept by repairs, and unfinished files of this journal. */
export async function removeAsides(fs: FileSystem, files: SegmentFiles): Promise<void> {
  for (const folder of [files.folder, files.archiveFolder]) {
    const names = await listedOrNone(fs, folder);
    const asides = names.filter((name) => files.isAside(name));
    for (const name of asides) await fs.unlink(path.join(folder, name));
    if (asides.length > 0) await fs.syncFolder(folder);
  }
}

async function listedOrNone(fs: FileSystem, folder: string): Promise<string[]> {
  try {
    return await fs.list(folder);
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

/** Records with their numbers; null for anything else. */
interface LinePiece extends BytePart {
  readonly seq: number | null;
}

function* partsOf(block: LineBlock, check: SequenceCheck): Generator<LinePiece> {
  if (block.bytes) {
    yield* partsOfLines(block.bytes, block.start, check);
    return;
  }
  check.skipDamaged();
  yield { offset: block.start, bytes: block.length, seq: null };
}

function* partsOfLines(bytes: Buffer, base: number, check: SequenceCheck): Generator<LinePiece> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    if (!isBlank(line)) yield* partsOfLine(line, base + start, check);
    start = end + 1;
  }
}

function* partsOfLine(line: Buffer, base: number, check: SequenceCheck): Generator<LinePiece> {
  for (const { start, end, decoded } of decodeLineParts(line)) {
    const part = { offset: base + start, bytes: end - start };
    if (decoded.kind === 'record') yield { ...part, seq: check.next(decoded.seq).seq };
    else if (decoded.kind !== 'header') check.skipDamaged();
    if (decoded.kind === 'damage') yield { ...part, seq: null };
  }
}
