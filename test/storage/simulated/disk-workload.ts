/** Short forms for the tests of the simulated disk. */
import type { FileSystem } from '../../../src/storage/file-system.js';
import type { CrashOptions } from '../../../src/storage/simulated/crash-states.js';
import { SimulatedDisk } from '../../../src/storage/simulated/simulated-disk.js';

export function newDisk(): SimulatedDisk {
  return new SimulatedDisk({ folders: ['/d'] });
}

export async function readText(fs: FileSystem, path: string): Promise<string | null> {
  if ((await fs.stat(path)) === null) return null;
  const file = await fs.open(path, 'read');
  const bytes = new Uint8Array(await file.sizeBytes());
  await file.read(bytes, 0);
  await file.close();
  return Buffer.from(bytes).toString('latin1');
}

/** Creates a file with a text; `sync` syncs its data. Leaves the name un-synced. */
export async function create(fs: FileSystem, path: string, text: string, sync: boolean): Promise<void> {
  const file = await fs.open(path, 'create');
  await file.write(Buffer.from(text), 0);
  if (sync) await file.datasync();
  await file.close();
}

/** Appends a text to a file that exists. */
export async function append(fs: FileSystem, path: string, text: string, sync: boolean): Promise<void> {
  const file = await fs.open(path, 'update');
  await file.write(Buffer.from(text), await file.sizeBytes());
  if (sync) await file.datasync();
  await file.close();
}

/** What each crash state at the end of the workload (or at other points) shows under a path, without repeats. */
export async function contents(
  disk: SimulatedDisk,
  path: string,
  options: CrashOptions = {},
): Promise<(string | null)[]> {
  const found = new Set<string | null>();
  for (const state of disk.crashStates({ fromPoint: disk.point, ...options })) {
    found.add(await readText(disk.reboot(state), path));
  }
  return [...found];
}
