/** Every file below a folder, whatever it is: to remove all of it, or to list it. Lease files are left out. */
import path from 'node:path';
import { isDigest } from '../blob-digest.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import { segmentOfEntry } from '../name-encoding.js';
import type { Lease, Name, StoredPlace } from '../ports.js';
import { ASIDE, isLease, JOURNAL_PART, listed } from './file-contents.js';

interface TreeFile extends Pick<StoredPlace, 'kind' | 'place'> {
  readonly path: string;
  readonly sizeBytes: number;
}

/** A process that was suspended for longer than this, in milliseconds, checks the lease again. */
const LEASE_AGE_MS = 1_000;

/**
 * The files of one journal form one place, and so do the blobs of one scope. @param place of the folder, relative to
 * the store
 */
export async function placesBelow(fs: FileSystem, folder: string, place: string): Promise<StoredPlace[]> {
  const places = new Map<string, StoredPlace>();
  for await (const { kind, place: name, sizeBytes } of filesBelow(fs, folder, place)) {
    const key = `${kind} ${name}`;
    const { items = 0, bytes = 0 } = places.get(key) ?? {};
    places.set(key, { kind, place: name, items: items + 1, bytes: bytes + sizeBytes });
  }
  return [...places.values()];
}

/** Empty folders stay: another process may be using them. The files of a journal are removed in order, the live one last. */
export async function removeFilesBelow(fs: FileSystem, folder: string, lease: Lease): Promise<void> {
  await lease.check();
  const changed = new Set<string>();
  for await (const file of filesBelow(fs, folder, '')) {
    await lease.check({ maxAgeMs: LEASE_AGE_MS });
    await fs.unlink(file.path).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    });
    changed.add(path.dirname(file.path));
  }
  // Synced even if nothing was found: another process may have removed it and been killed before its sync.
  changed.add(folder);
  for (const one of changed) await syncIfThere(fs, one);
}

/** The names of the leases among the folders below, relative to the prefix. */
export async function leasesBelow(fs: FileSystem, folder: string, prefix: Name): Promise<Name[]> {
  const found: Name[] = [];
  for (const entry of (await listed(fs, folder)).sort()) {
    const full = path.join(folder, entry);
    if ((await fs.stat(full))?.kind !== 'folder') continue;
    const segment = segmentOfEntry(entry);
    if (await isLease(fs, folder, entry)) found.push(prefix);
    else if (segment !== null) found.push(...(await leasesBelow(fs, full, [...prefix, segment])));
  }
  return found;
}

async function* filesBelow(fs: FileSystem, folder: string, place: string): AsyncGenerator<TreeFile> {
  for (const entry of (await listed(fs, folder)).sort()) {
    const full = path.join(folder, entry);
    const stat = await fs.stat(full);
    if (!stat) continue;
    if (stat.kind !== 'folder') {
      yield { path: full, sizeBytes: stat.sizeBytes, ...kindOf(place, entry) };
    } else if (!(await isLease(fs, folder, entry))) {
      yield* filesBelow(fs, full, place === '' ? entry : `${place}/${entry}`);
    }
  }
}

/** @param place of the folder that contains the file */
function kindOf(place: string, entry: string): Pick<StoredPlace, 'kind' | 'place'> {
  const full = `${place}/${entry}`;
  if (ASIDE.test(entry)) return { kind: 'aside', place: full };
  const journal = JOURNAL_PART.exec(entry)?.[1];
  if (journal) return { kind: 'journal', place: `${place.replace(/\/[^/]+\.archive$/, '')}/${journal}` };
  if (isDigest(entry) && /\/[0-9a-f]{2}$/.test(place)) return { kind: 'blobs', place: place.slice(0, -3) };
  return { kind: segmentOfEntry(entry) === null ? 'aside' : 'document', place: full };
}

async function syncIfThere(fs: FileSystem, folder: string): Promise<void> {
  await fs.syncFolder(folder).catch((thrown: unknown) => {
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
  });
}
