/** Reads and erases records in journals that several owners share. */
import type { JsonObject } from '../../core/json.js';
import type { JournalRecord, Name, StorageBackend } from '../ports.js';

/** Files that were cut off a journal or kept by a repair. They may hold records of any owner. */
const ASIDE = /\.(?:torn-\d+|damaged|clean)-[^/]*$/;

/** @param place in the form of `StoredPlace` */
export function isJournalAside(kind: string, place: string): boolean {
  return kind === 'aside' && ASIDE.test(place);
}

/** Number of the last record; 0 if there is none. */
export async function headSeq(backend: StorageBackend, name: Name): Promise<number> {
  const journal = await backend.openJournal(name, { readOnly: true });
  const { seq } = await journal.head().finally(() => journal.close());
  return seq;
}

/** Every readable record, including archived ones. */
export async function* storedRecords(
  backend: StorageBackend,
  name: Name,
): AsyncGenerator<JournalRecord<JsonObject>> {
  const journal = await backend.openJournal<JsonObject>(name, { readOnly: true });
  try {
    for await (const entry of journal.read({ archived: true })) if (entry.kind === 'record') yield entry;
  } finally {
    await journal.close();
  }
}
