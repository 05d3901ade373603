/** Lists the journals of shared states, to verify and repair them. */
import type { SharedJournalName } from '../../storage/journal-check.js';
import type { StorageBackend } from '../../storage/ports.js';

export interface SharedStateJournal extends SharedJournalName {
  /** The root session of the state; null for the session tree. */
  readonly root: string | null;
}

export async function sharedStateJournals(backend: StorageBackend): Promise<SharedStateJournal[]> {
  const roots = await backend.listNames(['shared', 'state']);
  const tree = (await backend.listNames(['shared'])).includes('tree');
  return [
    ...(tree ? [journalIn(['shared', 'tree'], 'sessions', null)] : []),
    ...roots.map((root) => journalIn(['shared', 'state', root], 'changes', root)),
  ];
}

function journalIn(folder: readonly string[], name: string, root: string | null): SharedStateJournal {
  return { journal: [...folder, name], lease: [...folder, `${name}.lease`], root };
}
