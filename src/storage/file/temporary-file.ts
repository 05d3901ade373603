/**
 * Files that are whole before they have their name: written under a temporary one beside it, with a random part and exclusively.
 * A crash leaves the temporary file; whoever holds the lease on the folder sweeps it.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { errnoOf, type FileSystem } from '../file-system.js';
import { withFile, writeFully } from './file-io.js';

const PREFIX = '.tmp-';

export function isTemporary(name: string): boolean {
  return name.startsWith(PREFIX);
}

/**
 * Writes a temporary file and hands its path to `place`, which gives it its name. Nothing is left behind when either fails.
 * @param options.sync the content survives power loss before the name exists
 */
export async function writeThenPlace<T>(
  fs: FileSystem,
  folder: string,
  bytes: Uint8Array,
  options: { readonly sync: boolean; readonly place: (temporary: string) => Promise<T> },
): Promise<T> {
  const temporary = path.join(folder, `${PREFIX}${process.pid}-${randomBytes(6).toString('hex')}`);
  try {
    await withFile(await fs.open(temporary, 'create'), async (file) => {
      await writeFully(file, bytes, 0);
      if (options.sync) await file.datasync();
    });
    return await options.place(temporary);
  } catch (thrown) {
    await fs.unlink(temporary).catch(() => {}); // where this fails too, the sweep has it
    throw thrown;
  }
}

/** Removes what crashes left in a folder; how many. Files that cannot be removed stay: they do no harm. */
export async function sweepTemporary(fs: FileSystem, folder: string): Promise<number> {
  let names: string[];
  try {
    names = await fs.list(folder);
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT' || errnoOf(thrown) === 'ENOTDIR') return 0;
    throw thrown;
  }
  let swept = 0;
  for (const name of names.filter(isTemporary)) {
    await fs.unlink(path.join(folder, name)).then(
      () => (swept += 1),
      () => {},
    );
  }
  return swept;
}
