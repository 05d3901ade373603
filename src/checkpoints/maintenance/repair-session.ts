/** Repairs the journal of one session. */
import { repairSharedJournal } from '../../storage/journal-check.js';
import type { SegmentRepair } from '../../storage/ports.js';
import { sessionNotFound } from '../checkpoint-id.js';
import { journalNames } from '../session/session-log.js';
import type { SessionPool } from '../session/session-pool.js';

/** The outcome of `CheckpointService.repair`. */
export interface SessionRepair {
  readonly segments: readonly SegmentRepair[];
  /** Number of lost records. */
  readonly lost: number;
}

/**
 * @throws SESSION_NOT_FOUND, LEASE_HELD. KEY_UNAVAILABLE if the journal was repaired, but the loss could not
 * be recorded
 */
export async function repairSession(pool: SessionPool, sessionId: string): Promise<SessionRepair> {
  if (!(await pool.names()).includes(sessionId)) throw sessionNotFound(sessionId);
  await pool.release(sessionId);
  const segments = await repairSharedJournal(pool.backend, journalNames(pool.folderOf(sessionId)));
  const lost = await pool.use(sessionId, (session) => session.acknowledgeLoss());
  return { segments, lost };
}
