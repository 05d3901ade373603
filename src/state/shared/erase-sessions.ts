/** Removes a root session and its children from the session tree, which all sessions share. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { storedRecords } from '../../storage/erasure/journal-rows.js';
import { inJournal } from '../../storage/erasure/shared-writing.js';
import type { Name, StorageBackend, StoredPlace } from '../../storage/ports.js';
import { SessionRoots } from './sessions/session-roots.js';

const TREE: Name = ['shared', 'tree', 'sessions'];
const LEASE: Name = ['shared', 'tree', 'sessions.lease'];

/**
 * The ids of a root and its children in the tree; empty for an unknown root. @throws INVALID_ARGUMENT for a
 * child
 */
export async function sessionsOfRoot(backend: StorageBackend, root: string): Promise<string[]> {
  const belongsTo = await rootsOf(backend);
  const ids = new Set<string>();
  for await (const { record } of storedRecords(backend, TREE)) {
    const itsRoot = belongsTo(record);
    if (record['id'] === root && itsRoot !== root) throw isChild(root, String(itsRoot));
    if (itsRoot === root && typeof record['id'] === 'string') ids.add(record['id']);
  }
  return [...ids];
}

/** The root of a record; the records of older sessions name none. */
async function rootsOf(backend: StorageBackend): Promise<(record: JsonObject) => JsonValue | undefined> {
  const roots = new SessionRoots();
  for await (const { record } of storedRecords(backend, TREE)) roots.add(record);
  return ({ id, root }) => (typeof root !== 'string' && typeof id === 'string' ? roots.rootOf(id) : root);
}

export function sessionRows(backend: StorageBackend, root: string) {
  const find = async () => {
    const belongsTo = await rootsOf(backend);
    const seqs: number[] = [];
    let bytes = 0;
    for await (const { seq, record } of storedRecords(backend, TREE)) {
      if (belongsTo(record) !== root) continue;
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
