/** Lists the content of a folder by file names: journals in segments, blobs under their digest; everything else is a document. */
import path from 'node:path';
import { isDigest } from '../blob-digest.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import { decodeNameSegment, segmentOfEntry } from '../name-encoding.js';
import type { Name, StoredName } from '../ports.js';

/** `raw_traces.jsonl`, `raw_traces.000001-4.jsonl`, `raw_traces.archive`, and cut-off tails all belong to one journal. */
export const JOURNAL_PART = /^(.+?)(?:\.\d{6,}(?:-\d+(?:\.[0-9a-f]{8})?)?)?\.jsonl$|^(.+)\.archive$/;
export const ASIDE = /^\.tmp-|\.torn-\d+-|\.(?:damaged|clean)-[0-9a-f]{8}$/;
const LEASE_FILE = /^(?:\d{6,15}(?:-[0-9a-f]{16})?\.(?:json|released)|waiting-\d{15}-[0-9a-f]{16}\.json)$/;

interface Found {
  readonly segment: string;
  readonly kind: 'journal' | 'document' | 'folder';
  readonly entry: string;
}

/** @param isBelow false for the requested prefix itself, which is not listed */
export async function* contentsOf(
  fs: FileSystem,
  folder: string,
  prefix: Name,
  isBelow = false,
): AsyncGenerator<StoredName> {
  const found = new Map<string, Found>();
  let blobs = false;
  for (const entry of await listed(fs, folder)) {
    const isFolder = (await fs.stat(path.join(folder, entry)))?.kind === 'folder';
    const shard = isFolder && (await isShard(fs, folder, entry));
    blobs ||= shard;
    if (shard || (isFolder && (await isLease(fs, folder, entry)))) continue;
    const item = describe(entry, isFolder);
    if (item) found.set(`${item.kind} ${item.segment}`, item);
  }
  if (blobs && isBelow) yield { kind: 'blobs', name: prefix };
  for (const { segment, kind, entry } of [...found.values()].sort((a, b) =>
    a.segment < b.segment ? -1 : 1,
  )) {
    const name = [...prefix, segment];
    if (kind === 'folder') yield* contentsOf(fs, path.join(folder, entry), name, true);
    else yield { kind, name };
  }
}

/** Null for anything else: unfinished files, files set aside, and foreign names. */
function describe(entry: string, isFolder: boolean): Found | null {
  if (!isFolder && ASIDE.test(entry)) return null;
  const part = JOURNAL_PART.exec(entry);
  const journal = part && (isFolder ? part[2] : part[1]);
  // Only folders may have the plain names that other tools use.
  const segment = isFolder && !journal ? segmentOfEntry(entry) : decodeNameSegment(journal ?? entry);
  if (segment === null) return null;
  return { segment, kind: journal ? 'journal' : isFolder ? 'folder' : 'document', entry };
}

async function isShard(fs: FileSystem, folder: string, entry: string): Promise<boolean> {
  if (!/^[0-9a-f]{2}$/.test(entry)) return false;
  return (await listed(fs, path.join(folder, entry))).some(isDigest);
}

/** A lease is a folder named `lease`, unless a journal has that name. */
export async function isLease(fs: FileSystem, folder: string, entry: string): Promise<boolean> {
  return (
    entry === 'lease' && (await listed(fs, path.join(folder, entry))).every((name) => LEASE_FILE.test(name))
  );
}

export async function listed(fs: FileSystem, folder: string): Promise<string[]> {
  try {
    return await fs.list(folder);
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
