/** Removes a journal, or its archived part: for logs and histories of limited length. */
import path from 'node:path';
import { errnoOf, type FileSystem } from '../file-system.js';
import { listOrEmpty } from './file-io.js';
import type { SegmentFiles } from './journal-segments.js';

/** Oldest first. Returns the number of removed files. */
export function removeArchive(fs: FileSystem, files: SegmentFiles): Promise<number> {
  return removeAll(fs, files.archiveFolder, () => true);
}

/**
 * Also removes torn tails and files kept by repairs. Oldest first, the live file last, so that a crash in between
 * leaves a shorter journal and never a gap. False if there was nothing.
 */
export async function removeSegments(fs: FileSystem, files: SegmentFiles): Promise<boolean> {
  const live = path.basename(files.livePath);
  const archived = await removeArchive(fs, files);
  const sealed = await removeAll(
    fs,
    files.folder,
    (name) => name !== live && (files.owns(name) || files.isAside(name)),
  );
  const last = await removeAll(fs, files.folder, (name) => name === live);
  return archived + sealed + last > 0;
}

async function removeAll(fs: FileSystem, folder: string, isPart: (name: string) => boolean): Promise<number> {
  const names = (await listOrEmpty(fs, folder)).filter(isPart).sort();
  for (const name of names) {
    await fs.unlink(path.join(folder, name)).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    });
  }
  if (names.length > 0) await fs.syncFolder(folder);
  return names.length;
}
