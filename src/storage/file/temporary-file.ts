/**
 * Files that are complete before they get their name: written exclusively to a temporary file with a random name next
 * to it. A crash leaves the temporary file; the holder of the folder's lease sweeps it.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { FileSystem } from '../file-system.js';
import { isRunning } from '../process-identity.js';
import { listOrEmpty, withFile, writeFully } from './file-io.js';

const PREFIX = '.tmp-';

export function isTemporary(name: string): boolean {
  return name.startsWith(PREFIX);
}

/**
 * Writes a temporary file and passes its path to `place`, which gives it its name. Nothing is left if either fails.
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
    await fs.unlink(temporary).catch(() => {}); // if this fails too, the sweep removes it
    throw thrown;
  }
}

/** In a shared folder, a file that was not touched for this many milliseconds counts as left behind. */
const LEFT_MS = 60_000;

/**
 * Removes temporary files that crashes left in a folder, and returns their number. Files that cannot be removed are
 * harmless and stay. @param options see `StorageBackend.sweep`
 */
export async function sweepTemporary(
  fs: FileSystem,
  folder: string,
  { shared = false }: { readonly shared?: boolean } = {},
): Promise<number> {
  let swept = 0;
  for (const name of (await listOrEmpty(fs, folder)).filter(isTemporary)) {
    const file = path.join(folder, name);
    if (shared && !(await isLeft(fs, file))) continue;
    await fs.unlink(file).then(
      () => (swept += 1),
      () => {},
    );
  }
  return swept;
}

/** A writer in another container looks dead. If its temporary file is removed, it writes the document again. */
async function isLeft(fs: FileSystem, file: string): Promise<boolean> {
  const pid = Number(/^\.tmp-(\d+)-/.exec(path.basename(file))?.[1] ?? 0);
  if (pid > 0 && !isRunning(pid)) return true;
  const stat = await fs.stat(file);
  return stat !== null && Date.now() - Math.max(stat.modifiedMs, stat.changedMs) > LEFT_MS;
}
