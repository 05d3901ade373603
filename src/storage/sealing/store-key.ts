/** The wrapped key in `sealing/store.json`: whoever can unwrap it has the master key of the store. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { WrappedDataKey } from './key-provider.js';
import { keyUnavailable } from './master-keys.js';
import { STORE_DOCUMENT } from './sealed-names.js';

export const STORE_KEY_BOUND = 'rekindle store key';

export function encodeStoreKey({ master, wrapped }: WrappedDataKey): JsonObject {
  return { format: 1, master, wrapped: Buffer.from(wrapped).toString('base64') };
}

/** @throws KEY_UNAVAILABLE */
export function decodeStoreKey(value: JsonValue): WrappedDataKey {
  const { format, master, wrapped } = isJsonObject(value) ? value : {};
  if (format === 1 && typeof master === 'string' && typeof wrapped === 'string')
    return { master, wrapped: Buffer.from(wrapped, 'base64') };
  throw keyUnavailable(`${STORE_DOCUMENT.join('/')} is damaged.`, { reason: 'damaged' });
}
