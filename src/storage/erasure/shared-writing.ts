/** Writing in what others share: under the lease of those who write there, and for as short as it takes. */
import type { JsonObject } from '../../core/json.js';
import type { Journal, Lease, Name, StorageBackend } from '../ports.js';

/** Those who write there let go of their leases within a second when they have nothing to write. */
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
