/** A whole store as its parts, for commands that walk it: what belongs to no tenant, and each tenant. */
import type { StorageBackend } from '../ports.js';
import { listTenants, withTenant } from './tenant-storage.js';

/** One part of a store. */
export interface StorePart {
  /** Null: what belongs to no tenant. Tenants of a tenant are joined by `/`. */
  readonly tenant: string | null;
  readonly storage: StorageBackend;
}

/** The store itself comes first. A tenant's own tenants follow it. @throws STORAGE_FAILED */
export async function storeParts(
  storage: StorageBackend,
  tenant: string | null = null,
): Promise<StorePart[]> {
  const parts: StorePart[] = [{ tenant, storage }];
  for (const name of await listTenants(storage))
    parts.push(
      ...(await storeParts(withTenant(storage, name), tenant === null ? name : `${tenant}/${name}`)),
    );
  return parts;
}
