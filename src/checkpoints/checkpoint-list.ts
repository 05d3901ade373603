/** Lists checkpoints and sessions. An unreadable session does not hide the others. */
import type { AccessTimes } from './access-times.js';
import { sessionNotFound } from './checkpoint-id.js';
import {
  type CheckpointMetadata,
  type SessionInfo,
  toMetadata,
  toSessionInfo,
} from './checkpoint-metadata.js';
import { type ListQuery, matches, newestFirst, type Page, pageOf } from './checkpoint-query.js';
import type { SessionPool, SessionProblem } from './session/session-pool.js';

/** @throws SESSION_NOT_FOUND if the query names a missing session */
export async function listCheckpoints(
  pool: SessionPool,
  query: ListQuery,
): Promise<Page<CheckpointMetadata>> {
  const { sessionId } = query;
  const found: CheckpointMetadata[] = [];
  const look = async (id: string) => void found.push(...(await checkpointsOf(pool, id, query)));
  const problems = sessionId === undefined ? await pool.each(look) : [];
  if (sessionId !== undefined) await look(sessionId);
  else found.sort(newestFirst);
  return { ...pageOf(found, query), problems };
}

/** Newest first. */
async function checkpointsOf(pool: SessionPool, id: string, query: ListQuery): Promise<CheckpointMetadata[]> {
  return pool.use(id, async (session) => {
    const state = await session.read();
    if (query.sessionId !== undefined && state.since === null) throw sessionNotFound(id);
    return state.checkpoints
      .map((record) => toMetadata(id, record, state))
      .filter((metadata) => matches(metadata, query))
      .reverse();
  });
}

/** Sessions with checkpoints, the most recently used first. */
export async function listSessions(
  pool: SessionPool,
  access: AccessTimes,
): Promise<{ readonly infos: readonly SessionInfo[]; readonly problems: readonly SessionProblem[] }> {
  const infos: SessionInfo[] = [];
  const problems = await pool.each(async (id) => {
    const info = await infoOf(pool, access, id);
    if (info && info.checkpoints > 0) infos.push(info);
  });
  infos.sort((a, b) => b.lastAccessedAt.localeCompare(a.lastAccessedAt));
  return { infos, problems };
}

/** Null for a session without records. */
export async function infoOf(
  pool: SessionPool,
  access: AccessTimes,
  id: string,
): Promise<SessionInfo | null> {
  return pool.use(id, async (session) => {
    const state = await session.read();
    if (state.since === null) return null;
    const { isEncrypted } = session.log;
    return toSessionInfo(id, state, { isEncrypted, accessedAt: await access.of(id) });
  });
}
