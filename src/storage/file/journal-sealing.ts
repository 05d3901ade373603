/**
 * The steps from one segment to the next: make the old one durable, move foreign files away, create the new one with
 * its header.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { errnoOf, type FileSystem, type OpenFile } from '../file-system.js';
import type { Lease } from '../ports.js';
import { copyDurably, readRange, withFile, writeFully } from './file-io.js';
import { encodeHeader, type SegmentHeader } from './journal-line.js';
import { continuedByAnother } from './journal-recovery.js';
import type { Segment, SegmentFiles } from './journal-segments.js';
import { writeThenPlace } from './temporary-file.js';

/** What the writer does with the last segment before its first append. */
export type PlanAfter = 'append' | 'seal-live' | 'follow-sealed';

/** An owner that may still be alive can have the live file open: its creator, or a later writer. */
export function planAfter({ header, live }: Segment, lease: Lease | null): PlanAfter {
  if (!live) return 'follow-sealed';
  const unsafe = lease?.unsafeFence ?? 0;
  const fence = header?.fence ?? 0;
  const foreign = (unsafe > 0 && fence <= unsafe) || fence > (lease?.fence ?? fence);
  return foreign ? 'seal-live' : 'append';
}

/** Makes all bytes of a segment durable, also those of another process. A no-op for archived segments, which are durable. */
export async function syncSegment(fs: FileSystem, target: string): Promise<void> {
  if ((await fs.stat(target)) === null) return;
  await withFile(await fs.open(target, 'update'), (file) => file.datasync());
}

/**
 * After a failed sync, a second sync of the same file may report success wrongly. So its first `end` bytes are copied
 * to a new file, and the old file is kept.
 */
export async function replaceByCopy(
  fs: FileSystem,
  files: SegmentFiles,
  target: string,
  end: number,
): Promise<void> {
  const bytes = await withFile(await fs.open(target, 'read'), (file) => readRange(file, 0, end));
  await fs.link(target, files.tornPath(end, randomBytes(4).toString('hex')));
  const place = (made: string) => fs.rename(made, target);
  await writeThenPlace(fs, files.folder, bytes, { sync: true, place });
  await fs.syncFolder(files.folder);
}

/**
 * Moves a live file that is not part of the journal away, to a name that is still read if its header shows that it is a
 * segment.
 */
export async function setStrayAside(
  fs: FileSystem,
  files: SegmentFiles,
  stray: string,
  place: { readonly number: number; readonly fence: number },
): Promise<void> {
  await fs.rename(stray, files.strayPath(place.number, place.fence, randomBytes(4).toString('hex')));
  await fs.syncFolder(files.folder);
}

export interface NewSegment {
  readonly file: OpenFile;
  readonly headerBytes: number;
}

/**
 * Creates the live file of a segment exclusively, with a durable header. If the name is taken although the lease is
 * held, a failed attempt or a fenced writer left that file; it is set aside, once.
 * @param assertHeld rejects if the lease is lost
 */
export async function createSegment(
  fs: FileSystem,
  files: SegmentFiles,
  header: SegmentHeader,
  assertHeld: () => Promise<void>,
): Promise<NewSegment> {
  const first = await tryCreateSegment(fs, files, header);
  if (first) return first;
  await assertHeld();
  await setStrayAside(fs, files, files.livePath, { number: header.segment, fence: header.fence });
  const second = await tryCreateSegment(fs, files, header);
  if (second) return second;
  throw continuedByAnother(files.base);
}

/** Null if the name is taken. */
async function tryCreateSegment(
  fs: FileSystem,
  files: SegmentFiles,
  header: SegmentHeader,
): Promise<NewSegment | null> {
  const bytes = encodeHeader(header);
  let file: OpenFile;
  try {
    file = await fs.open(files.livePath, 'create');
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST') return null;
    throw thrown;
  }
  try {
    await writeFully(file, bytes, 0);
    await file.datasync();
    return { file, headerBytes: bytes.length };
  } catch (thrown) {
    await file.close().catch(() => {});
    await fs.unlink(files.livePath).catch(() => {}); // if this fails, the next attempt sets it aside
    throw thrown;
  }
}

/** Accepts that the rename already happened in an attempt that was reported as failed. */
export async function renameOnce(fs: FileSystem, from: string, to: string): Promise<void> {
  try {
    await fs.rename(from, to);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT' || (await fs.stat(to)) === null) throw thrown;
  }
}

/** Copies the bytes after the last whole record to a file next to it, durably, then cuts them off. Returns that file's name. */
export async function cutTornTail(
  fs: FileSystem,
  files: SegmentFiles,
  file: OpenFile,
  end: { readonly end: number; readonly tornBytes: number },
): Promise<string> {
  const aside = files.tornPath(end.end, randomBytes(4).toString('hex'));
  await copyDurably(fs, file, aside, { from: end.end, to: end.end + end.tornBytes });
  await file.truncate(end.end);
  await file.datasync();
  return path.basename(aside);
}

/** The new name is durable before the old one is removed: a rename between folders could lose both. */
export async function moveToFolder(fs: FileSystem, file: string, folder: string): Promise<void> {
  const target = path.join(folder, path.basename(file));
  await fs.link(file, target).catch(async (thrown: unknown) => {
    if (errnoOf(thrown) !== 'EEXIST') throw thrown;
    const [from, to] = [await fs.stat(file), await fs.stat(target)];
    if (from && from.inode === to?.inode) return; // a crash came after the link
    // If links are copies, a crash may have interrupted the copy.
    await fs.unlink(target);
    await fs.link(file, target);
  });
  await fs.syncFolder(folder);
  await fs.unlink(file);
  await fs.syncFolder(path.dirname(file));
}
