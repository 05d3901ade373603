/** Reading and erasing in journals that several share. */
import type { JsonObject } from '../../core/json.js';
import type { JournalRecord, Name, StorageBackend } from '../ports.js';

/** What was cut off a journal, or kept by a repair of one: rows of anyone. */
const ASIDE = /\.(?:torn-\d+|damaged|clean)-[^/]*$/;

/** @param place as `StoredPlace` has it */
export function isJournalAside(kind: string, place: string): boolean {
  return kind === 'aside' && ASIDE.test(place);
}

/** Every record that can be read, also archived ones. */
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
