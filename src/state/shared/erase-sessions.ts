/** Removes a root session and its children from the session tree, which all sessions share. */
import { RekindleError } from '../../core/errors.js';
import { storedRecords } from '../../storage/erasure/journal-rows.js';
import { inJournal } from '../../storage/erasure/shared-writing.js';
import type { Name, StorageBackend, StoredPlace } from '../../storage/ports.js';

const TREE: Name = ['shared', 'tree', 'sessions'];
const LEASE: Name = ['shared', 'tree', 'sessions.lease'];

/**
 * The ids of a root and its children in the tree; empty for an unknown root. @throws INVALID_ARGUMENT for a
 * child
 */
export async function sessionsOfRoot(backend: StorageBackend, root: string): Promise<string[]> {
  const ids = new Set<string>();
  for await (const { record } of storedRecords(backend, TREE)) {
    if (record['id'] === root && record['root'] !== root) throw isChild(root, String(record['root']));
    if (record['root'] === root && typeof record['id'] === 'string') ids.add(record['id']);
  }
  return [...ids];
}

export function sessionRows(backend: StorageBackend, root: string) {
  const find = async () => {
    const seqs: number[] = [];
    let bytes = 0;
    for await (const { seq, record } of storedRecords(backend, TREE)) {
      if (record['root'] !== root) continue;
      seqs.push(seq);
      bytes += JSON.stringify(record).length;
    }
    return { seqs, bytes };
  };
  return {
    look: async (): Promise<StoredPlace[]> => {
      const { seqs, bytes } = await find();
      if (seqs.length === 0) return [];
      return [{ kind: 'journal', place: TREE.join('/'), items: seqs.length, bytes }];
    },
    erase: async (): Promise<void> => {
      if ((await find()).seqs.length === 0) return;
      await inJournal(backend, { journal: TREE, lease: LEASE }, async (journal) => {
        await journal.erase((await find()).seqs);
      });
    },
  };
}

function isChild(session: string, root: string): RekindleError {
  const text = `${JSON.stringify(session)} is a child, and shares the state of its root ${JSON.stringify(root)}. Erase the root.`;
  return new RekindleError('INVALID_ARGUMENT', text, { details: { field: 'session', session, root } });
}
