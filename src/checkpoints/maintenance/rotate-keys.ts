/**
 * A new master key: every data key is wrapped with it, and no data is written anew. A crash in between leaves some wrapped with the old
 * one, which stays known; doing it again finishes it.
 */
import { messageOf } from '../../core/errors.js';
import type { Name } from '../../storage/ports.js';
import { masterForNew } from '../encryption/keys-for.js';
import type { MasterKeys } from '../encryption/master-keys.js';
import type { SessionPool } from '../session/session-pool.js';

export interface RotateOptions {
  /**
   * Afterwards the old master keys are forgotten, if no session failed. Default false: other stores, and copies of this one, may need
   * them.
   */
  readonly forgetOld?: boolean;
}

export interface RotationReport {
  /** The id of the master key that is in force; null when there is none, and nothing that needs one. */
  readonly master: string | null;
  /** Sessions with keys. */
  readonly sessions: number;
  /** Data keys that were wrapped with another one. */
  readonly rewrapped: number;
  /** Sessions whose keys are as they were. */
  readonly failed: readonly { readonly sessionId: string; readonly message: string }[];
}

/** @throws KEY_UNAVAILABLE when there is no current key though sessions need one; LEASE_HELD while another rotation runs */
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
