/** A secret file outside any store: only its owner may read it, and it is replaced atomically. */
import path from 'node:path';
import { RekindleError } from '../../core/errors.js';
import { FallbackFileSystem } from './fallback-file-system.js';
import { ensureFolder, readWhole } from './file-io.js';
import { assertOwnersAlone } from './file-paths.js';
import { NodeFileSystem } from './node-file-system.js';
import { emitStorageWarning, labelled } from './storage-errors.js';
import { writeThenPlace } from './temporary-file.js';

/** Null if there is none. @throws PATH_REFUSED for a link, or a file that others can read; STORAGE_FAILED */
export function readPrivateFile(file: string): Promise<Uint8Array | null> {
  return labelled(`read ${file}`, async () => {
    const fs = new NodeFileSystem();
    const stat = await fs.stat(file);
    if (!stat) return null;
    if (stat.kind !== 'file') throw refused(file, 'it is not a regular file');
    assertOwnersAlone(file, stat);
    return readWhole(fs, file);
  });
}

/** Durable when it resolves. @throws STORAGE_FAILED; with `isNew` also if the file exists */
export function writePrivateFile(
  file: string,
  bytes: Uint8Array,
  { isNew }: { readonly isNew: boolean },
): Promise<void> {
  return labelled(`write ${file}`, async () => {
    const fs = new FallbackFileSystem(new NodeFileSystem(), emitStorageWarning);
    const folder = path.dirname(file);
    await ensureFolder(fs, folder);
    await writeThenPlace(fs, folder, bytes, {
      sync: true,
      place: async (made) => {
        if (!isNew) return fs.rename(made, file);
        await fs.link(made, file);
        await fs.unlink(made);
      },
    });
    await fs.syncFolder(folder);
  });
}

function refused(file: string, problem: string): RekindleError {
  return new RekindleError('PATH_REFUSED', `${file} is not used: ${problem}.`, {
    details: { file, problem },
  });
}
