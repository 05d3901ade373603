/** Writes a new file; never overwrites an existing one. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { RekindleError } from '../core/errors.js';

const PROBLEMS: Readonly<Record<string, string>> = {
  EEXIST: 'The file already exists and was not changed. Choose another name.',
  ENOENT: 'Its folder does not exist.',
  ENOTDIR: 'Its folder is a file.',
  EACCES: 'Permission denied.',
  EROFS: 'The disk is read-only.',
};

/** @throws INVALID_ARGUMENT if a file of this name exists, STORAGE_FAILED */
export async function writeNewFile(file: string, pieces: Iterable<string>): Promise<void> {
  const handle = await openNew(file);
  try {
    for (const piece of pieces) await handle.appendFile(piece, 'utf8');
    await handle.sync();
    await handle.close();
  } catch (cause) {
    await handle.close().catch(() => {});
    await rm(file, { force: true }); // created a moment ago, and an incomplete file is useless
    throw new RekindleError('STORAGE_FAILED', `${file} could not be written.`, { details: { file }, cause });
  }
}

async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600);
  } catch (cause) {
    const problem = PROBLEMS[(cause as NodeJS.ErrnoException).code ?? ''] ?? 'It cannot be created.';
    throw new RekindleError('INVALID_ARGUMENT', `${file} cannot be written. ${problem}`, {
      details: { argument: '--out', file },
      cause,
    });
  }
}
