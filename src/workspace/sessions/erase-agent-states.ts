/** Removes an agent from the sessions of a workspace: its saved states and its name. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { underLease } from '../../storage/erasure/shared-writing.js';
import type { Name, StorageBackend, StoredPlace } from '../../storage/ports.js';

interface Found {
  readonly session: Name;
  readonly document: JsonObject;
  /** The agent's names in the session. */
  readonly names: readonly string[];
}

/** @param folder of the workspace */
export function agentStates(backend: StorageBackend, folder: Name, agent: string) {
  return {
    look: async (): Promise<StoredPlace[]> => {
      const places: StoredPlace[] = [];
      for (const { session, names } of await find(backend, folder, agent)) {
        places.push({ kind: 'document', place: `${session.join('/')}/session.json`, items: 1, bytes: 0 });
        for (const name of names) {
          const file = stateOf(session, name);
          const bytes = (await backend.documents.readBytes(file))?.length;
          if (bytes !== undefined) places.push({ kind: 'document', place: file.join('/'), items: 1, bytes });
        }
      }
      return places;
    },
    erase: async (): Promise<void> => {
      if ((await find(backend, folder, agent)).length === 0) return;
      await underLease(backend, [...folder, 'sessions.lease'], async () => {
        for (const { session, document, names } of await find(backend, folder, agent)) {
          for (const name of names) await backend.documents.delete(stateOf(session, name));
          const agents = agentsOf(document).filter((known) => known['agent_id'] !== agent);
          await backend.documents.write([...session, 'session.json'], { ...document, agents });
        }
      });
    },
  };
}

function stateOf(session: Name, name: string): Name {
  return [...session, 'agent_states', `${name}.json`];
}

async function find(backend: StorageBackend, folder: Name, agent: string): Promise<Found[]> {
  const found: Found[] = [];
  for (const id of await backend.listNames([...folder, 'sessions'])) {
    if (!id.startsWith('session_')) continue;
    const session = [...folder, 'sessions', id];
    const document: JsonValue | undefined = (await backend.documents.read([...session, 'session.json']))
      ?.value;
    if (!isJsonObject(document)) continue;
    const own = agentsOf(document).filter((known) => known['agent_id'] === agent);
    const names = own.map(({ name }) => name).filter((name) => typeof name === 'string');
    if (own.length > 0) found.push({ session, document, names });
  }
  return found;
}

function agentsOf({ agents }: JsonObject): JsonObject[] {
  return Array.isArray(agents) ? agents.filter(isJsonObject) : [];
}
