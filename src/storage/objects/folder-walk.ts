/** Lists a tree of folders as a bucket lists its keys: all objects, sorted by encoded name. */
import { encodeNameSegment } from '../name-encoding.js';
import type { Name } from '../ports.js';
import type { ObjectEntry, ObjectInfo } from './object-storage.js';

/** An entry directly in a folder. `object` is null for a folder. */
export interface FolderEntry {
  /** Decoded. */
  readonly segment: string;
  readonly object: ObjectInfo | null;
}

/** @param entriesOf the entries of a folder, by its name below the prefix; empty if it does not exist */
export async function* walkFolders(
  entriesOf: (below: Name) => Promise<FolderEntry[]>,
  below: Name = [],
): AsyncGenerator<ObjectEntry> {
  const entries = (await entriesOf(below)).map((entry) => ({ entry, key: sortKey(entry) }));
  for (const { entry } of entries.sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const name = [...below, entry.segment];
    if (entry.object) yield { name, size: entry.object.size, modifiedMs: entry.object.modifiedMs };
    else yield* walkFolders(entriesOf, name);
  }
}

/** The segments of a folder's objects, and of its folders that contain any. */
export async function namesInFolder(entriesOf: (below: Name) => Promise<FolderEntry[]>): Promise<string[]> {
  const names: string[] = [];
  for (const { segment, object } of await entriesOf([])) {
    const first = object ?? (await walkFolders(entriesOf, [segment]).next()).value;
    if (first) names.push(segment);
  }
  return names.sort();
}

/** A folder is sorted with its `/`, in the place of its objects among the keys. */
function sortKey({ segment, object }: FolderEntry): string {
  return encodeNameSegment(segment) + (object ? '' : '/');
}
