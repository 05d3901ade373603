/**
 * Rotates the master key: wraps every data key with a new one; no data is rewritten. After a crash, some data
 * keys still have the old one, which stays known. Run it again to finish.
 */
import { messageOf } from '../../core/errors.js';
import type { Name } from '../../storage/ports.js';
import { type MasterKeys, masterForNew } from '../../storage/sealing/master-keys.js';
import type { SessionPool } from '../session/session-pool.js';

/** Options of `CheckpointService.rotateKeys`. */
export interface RotateOptions {
  /**
   * Forget the old master keys afterwards, if no session failed. Default false, because other stores and
   * copies of this one may need them.
   */
  readonly forgetOld?: boolean;
}

/** What `rotateKeys` did. */
export interface RotationReport {
  /** The id of the current master key; null if there is none and none is needed. */
  readonly master: string | null;
  /** Number of sessions with keys. */
  readonly sessions: number;
  /** Number of data keys that had another master key. */
  readonly rewrapped: number;
  /** Sessions whose keys did not change. */
  readonly failed: readonly { readonly sessionId: string; readonly message: string }[];
}

/**
 * @throws KEY_UNAVAILABLE if sessions need a master key and there is none; LEASE_HELD while another rotation
 * runs
 */
export async function rotateKeys(
  pool: SessionPool,
  masters: MasterKeys,
  leaseName: Name,
  { forgetOld = false }: RotateOptions,
): Promise<RotationReport> {
  const lease = await pool.backend.leases.acquire(leaseName);
  try {
    if (!(await pool.hasKeys()) && (await masters.current()) === null)
      return { master: null, sessions: 0, rewrapped: 0, failed: [] };
    const before = await masterForNew(masters, () => pool.hasKeys());
    const master = (await masters.renew()) ?? before;
    const failed: { sessionId: string; message: string }[] = [];
    let sessions = 0;
    let rewrapped = 0;
    for (const sessionId of await pool.names()) {
      try {
        const count = await pool.use(sessionId, (session) => session.rewrapKeys(master));
        if (count !== null) sessions += 1;
        rewrapped += count ?? 0;
      } catch (thrown) {
        failed.push({ sessionId, message: messageOf(thrown) });
      }
    }
    if (forgetOld && failed.length === 0) await masters.forgetOld();
    return { master: master.id, sessions, rewrapped, failed };
  } finally {
    await lease.release();
  }
}
