/** The path of a stream, such as `answers/42`, and where it is stored. */
import { RekindleError } from '../core/errors.js';
import type { SharedJournalName } from '../storage/journal-check.js';
import { encodeNameSegment } from '../storage/name-encoding.js';
import type { Name, StorageBackend } from '../storage/ports.js';

const FOLDER = 'streams';
export const LOG = 'log';
export const LEASE = 'log.lease';

/** The folder of a stream. Different paths have different folders. @throws INVALID_NAME */
export function folderOf(path: string): Name {
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..'))
    throw new RekindleError(
      'INVALID_NAME',
      `The path ${JSON.stringify(path)} has an empty or relative part.`,
      {
        details: { name: path, problem: 'an empty or relative part' },
      },
    );
  const segment = path.replaceAll('~', '~0').replaceAll('/', '~1');
  encodeNameSegment(segment); // refuses what no store takes
  return [FOLDER, segment];
}

/** Paths of all streams, sorted; also of those that have expired. Leases of deleted streams stay, and do not count. */
export async function streamPaths(backend: StorageBackend): Promise<string[]> {
  const segments = new Set<string>();
  for await (const { name } of backend.contents([FOLDER])) segments.add(name[1] ?? '');
  return [...segments].map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~')).sort();
}

/** The journals of all streams, to verify and repair them. */
export async function streamJournals(
  backend: StorageBackend,
): Promise<(SharedJournalName & { path: string })[]> {
  return (await streamPaths(backend)).map((path) => {
    const folder = folderOf(path);
    return { path, journal: [...folder, LOG], lease: [...folder, LEASE] };
  });
}
