/** Writes to shared places under the lease of their writers, and holds it as briefly as possible. */
import type { JsonObject } from '../../core/json.js';
import type { Journal, Lease, Name, StorageBackend } from '../ports.js';

/** The writers release their leases within a second when they have nothing to write. */
const WAIT_MS = 5_000;

/** @throws LEASE_HELD */
export async function underLease<T>(
  backend: StorageBackend,
  name: Name,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const lease = await backend.leases.acquire(name, { waitMs: WAIT_MS });
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}

/** @throws LEASE_HELD, and as `openJournal` */
export function inJournal<T>(
  backend: StorageBackend,
  { journal: name, lease: leaseName }: { readonly journal: Name; readonly lease: Name },
  work: (journal: Journal<JsonObject>) => Promise<T>,
): Promise<T> {
  return underLease(backend, leaseName, async (lease) => {
    const journal = await backend.openJournal<JsonObject>(name, { lease });
    return work(journal).finally(() => journal.close());
  });
}
