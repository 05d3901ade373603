/** The address of a tenant, for advice about a part of the store that a command was given. */
import { isStorageUrl } from '../storage/open-storage.js';

/**
 * The place unchanged for what belongs to no tenant, and for a tenant of a tenant, which no address names.
 * @param dir as given with `--dir`; the default place if it is missing
 */
export function tenantAddress(dir: string | undefined, tenant: string | null): string | undefined {
  if (tenant === null || tenant.includes('/')) return dir;
  const place = dir ?? 'memory';
  const address = isStorageUrl(place) ? place : `file:${place}`;
  return `${address}${address.includes('?') ? '&' : '?'}tenant=${encodeURIComponent(tenant)}`;
}
