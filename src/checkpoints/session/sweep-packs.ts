/** Finds and removes unreferenced data. */
import type { Blobs, Lease } from '../../storage/ports.js';
import type { SessionLog } from './session-log.js';

export interface SweepOptions {
  readonly log: SessionLog;
  readonly blobs: Blobs;
  readonly graceMs: number;
  readonly nowMs: () => number;
  /** The lease that permits removal. Null: only report. */
  readonly lease: Lease | null;
}

/** The unreferenced data that was found. */
export interface Swept {
  readonly blobs: number;
  readonly bytes: number;
}

const NOTHING: Swept = { blobs: 0, bytes: 0 };
/** After being suspended for longer than this, check again that the lease is still held. */
const LEASE_AGE_MS = 1_000;

/**
 * If a record is damaged or missing, its references are unknown, so nothing is removed. @throws
 * KEY_UNAVAILABLE, LEASE_LOST
 */
export async function sweepPacks({ log, blobs, graceMs, nowMs, lease }: SweepOptions): Promise<Swept> {
  await log.authenticate();
  const { state } = log;
  if (state.since === null || !(await log.isWhole())) return NOTHING;
  const used = state.digests;
  const isOld = (ms: number, now: number) => ms <= now - graceMs;
  const swept = { blobs: 0, bytes: 0 };
  for await (const { digest, size, storedMs } of blobs.list()) {
    const freedAt = state.freedAt(digest);
    if (used.has(digest) || !isOld(storedMs, Date.now())) continue;
    if (freedAt !== null && !isOld(Date.parse(freedAt), nowMs())) continue;
    if (lease) {
      await lease.check({ maxAgeMs: LEASE_AGE_MS });
      await blobs.delete(digest);
    }
    swept.blobs += 1;
    swept.bytes += size;
  }
  return swept;
}
