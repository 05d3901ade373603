/** How many records of an agent were erased: a restore reports it. Stored as `erased.json` next to the journals. */
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { Name, StorageBackend } from '../../storage/ports.js';

function nameOf(agent: string): Name {
  return ['agents', agent, 'erased.json'];
}

/** Durable when it resolves. An erasure counts once, however often it is noted. @param id of the erasure */
export async function noteErased(
  backend: StorageBackend,
  agent: string,
  id: string,
  records: number,
): Promise<void> {
  const known = (await entries(backend, agent)).filter((entry) => entry['id'] !== id);
  await backend.documents.write(nameOf(agent), { format: 1, erasures: [...known, { id, records }] });
}

/** The records of all erasures; 0 if there was none. A damaged document counts as none. */
export async function erasedRecords(backend: StorageBackend, agent: string): Promise<number> {
  const counts = (await entries(backend, agent).catch(() => [])).map(({ records }) => Number(records) || 0);
  return counts.reduce((sum, count) => sum + count, 0);
}

async function entries(backend: StorageBackend, agent: string): Promise<JsonObject[]> {
  const document = (await backend.documents.read(nameOf(agent)))?.value;
  const erasures = isJsonObject(document) ? document['erasures'] : undefined;
  return Array.isArray(erasures) ? erasures.filter(isJsonObject) : [];
}
