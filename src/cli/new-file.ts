/** Writes a file that was not there before: nothing is ever overwritten. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { RekindleError } from '../core/errors.js';

const PROBLEMS: Readonly<Record<string, string>> = {
  EEXIST: 'The file exists; it was not changed. Choose another name.',
  ENOENT: 'Its folder does not exist.',
  ENOTDIR: 'Its folder is a file.',
  EACCES: 'That is not permitted.',
  EROFS: 'The disk is read-only.',
};

/** @throws INVALID_ARGUMENT when there is something of this name, STORAGE_FAILED */
export async function writeNewFile(file: string, pieces: Iterable<string>): Promise<void> {
  const handle = await openNew(file);
  try {
    for (const piece of pieces) await handle.appendFile(piece, 'utf8');
    await handle.sync();
    await handle.close();
  } catch (cause) {
    await handle.close().catch(() => {});
    await rm(file, { force: true }); // made here a moment ago, and half a file helps nobody
    throw new RekindleError('STORAGE_FAILED', `${file} could not be written.`, { details: { file }, cause });
  }
}

async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600);
  } catch (cause) {
    const problem = PROBLEMS[(cause as NodeJS.ErrnoException).code ?? ''] ?? 'It cannot be made.';
    throw new RekindleError('INVALID_ARGUMENT', `${file} cannot be written. ${problem}`, {
      details: { argument: '--out', file },
      cause,
    });
  }
}
