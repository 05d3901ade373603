/** The checkpoints of one agent: its own sessions, and its part of shared sessions. */
import { systemClock } from '../../core/clock.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { storedRecords } from '../../storage/erasure/journal-rows.js';
import type { Name, StorageBackend, StoredPlace } from '../../storage/ports.js';
import { checkpointId } from '../checkpoint-id.js';
import { loadConfig } from '../config/load-config.js';
import { keysFor } from '../encryption/keys-for.js';
import { openPool } from '../service-parts.js';
import type { SessionPool } from '../session/session-pool.js';
import { sessionPrefix } from '../tools/checkpoint-scope.js';

export interface AgentCheckpoints {
  /** Folders of sessions that only it uses. */
  readonly whole: readonly Name[];
  /** Ids of sessions in which others have checkpoints, too. */
  readonly shared: readonly string[];
}

/** @param folder of the checkpoints */
export async function checkpointsOf(
  backend: StorageBackend,
  folder: Name,
  agent: string,
): Promise<AgentCheckpoints> {
  const [whole, shared]: [Name[], string[]] = [[], []];
  for (const id of await backend.listNames([...folder, 'sessions'])) {
    const session = [...folder, 'sessions', id];
    const owners = new Set((await savesOf(backend, session)).map((save) => save['agent']));
    if (id.startsWith(sessionPrefix({ agent }))) whole.push(session);
    else if (owners.has(agent) && owners.size === 1) whole.push(session);
    else if (owners.has(agent)) shared.push(id);
  }
  return { whole, shared };
}

/** Its checkpoints in a shared session: their records and labels, and data that no other checkpoint uses. */
export function sharedCheckpoints(backend: StorageBackend, folder: Name, id: string, agent: string) {
  const session = [...folder, 'sessions', id];
  return {
    look: async (): Promise<StoredPlace[]> => {
      const own = (await savesOf(backend, session)).filter((save) => save['agent'] === agent);
      const bytes = own.reduce((sum, save) => sum + JSON.stringify(save).length, 0);
      const place = [...session, 'checkpoints'].join('/');
      return own.length === 0 ? [] : [{ kind: 'journal', place, items: own.length, bytes }];
    },
    erase: async (): Promise<void> => {
      const pool = await poolOf(backend, folder);
      try {
        await pool.use(id, async (opened) => {
          const own = (await opened.read()).checkpoints.filter((save) => save.agent === agent);
          await opened.remove(() => own.map(({ number }) => number), 'erased');
          // Data first: as long as records name the agent, a call after a crash finds the rest.
          await opened.sweep(0, true);
          await opened.log.erasePast();
        });
      } finally {
        await pool.close();
      }
    },
  };
}

/** Checkpoints of an agent from a time on, which may hold what the agent had then. */
export interface LaterCheckpoints {
  /** Ids, such as `desk@3`. */
  readonly kept: readonly string[];
  /** Sessions with removed ones, whose data may still be stored. */
  readonly removedIn: readonly string[];
}

/** @param folder of the checkpoints @param sinceMs milliseconds since 1970 */
export async function checkpointsSince(
  backend: StorageBackend,
  folder: Name,
  agent: string,
  sinceMs: number,
): Promise<LaterCheckpoints> {
  const [kept, removedIn]: [string[], string[]] = [[], []];
  for (const id of await backend.listNames([...folder, 'sessions'])) {
    const session = [...folder, 'sessions', id];
    const own = (await savesOf(backend, session)).filter(
      (save) => save['agent'] === agent && !(Date.parse(String(save['at'])) < sinceMs),
    );
    if (own.length === 0) continue;
    const removed = await removedNumbers(backend, session);
    const left = own.filter((save) => !removed.has(Number(save['number'])));
    const ids = new Set(left.map((save) => checkpointId({ sessionId: id, number: Number(save['number']) })));
    kept.push(...ids);
    if (left.length < own.length) removedIn.push(id);
  }
  return { kept, removedIn };
}

async function removedNumbers(backend: StorageBackend, session: Name): Promise<Set<number>> {
  const removed = new Set<number>();
  for await (const { record } of storedRecords(backend, [...session, 'checkpoints']))
    for (const field of ['numbers', 'removes'])
      for (const number of Array.isArray(record[field]) ? record[field] : []) removed.add(Number(number));
  return removed;
}

/** Deletes data that no checkpoint of the session uses, also without the usual grace time. */
export async function sweepSession(backend: StorageBackend, folder: Name, id: string): Promise<void> {
  const pool = await poolOf(backend, folder);
  try {
    await pool.use(id, (opened) => opened.sweep(0, true));
  } finally {
    await pool.close();
  }
}

/** Includes removed checkpoints: their labels are still stored, and possibly their data. */
async function savesOf(backend: StorageBackend, session: Name): Promise<JsonObject[]> {
  const journal = await backend.openJournal<JsonObject>([...session, 'checkpoints'], { readOnly: true });
  const saves: JsonObject[] = [];
  try {
    for await (const entry of journal.read({ archived: true })) {
      if (entry.kind !== 'record') continue;
      const { record } = entry;
      if (record['type'] === 'save') saves.push(record);
      if (record['type'] === 'base' && Array.isArray(record['saves']))
        saves.push(...record['saves'].filter(isJsonObject));
    }
    return saves;
  } finally {
    await journal.close();
  }
}

async function poolOf(backend: StorageBackend, folder: Name): Promise<SessionPool> {
  const config = await loadConfig(backend.documents, folder, undefined);
  const masters = keysFor(config.encryption, {});
  return openPool({ backend, folder, config, masters, nowMs: () => systemClock.nowMs() });
}
