/** The port to whatever wraps data keys: our own master keys, or a key service. */

import { KEY_BYTES, open, seal } from './aes-seal.js';
import { keyUnavailable, type MasterKeys, masterForNew } from './master-keys.js';

/** A data key in its wrapped form, which may be stored. */
export interface WrappedDataKey {
  /** The id of the master key that wraps it. */
  readonly master: string;
  readonly wrapped: Uint8Array;
}

/**
 * Wraps and unwraps data keys. A key service (KMS) implements these two calls; the master key never leaves the service. `bound` is
 * the place of the data key: `unwrap` must fail if it differs (the "encryption context" or "associated data" of a service).
 */
export interface KeyProvider {
  /** Its name, for messages. */
  readonly place: string;
  /**
   * Wraps 32 bytes with the current master key.
   * @param isFirst nothing was sealed before, so a provider without a master key may make one @throws KEY_UNAVAILABLE
   */
  wrap(key: Uint8Array, bound: string, isFirst: boolean): Promise<WrappedDataKey>;
  /** @throws KEY_UNAVAILABLE if the master key is not known, or the wrapped key was changed */
  unwrap(key: WrappedDataKey, bound: string): Promise<Uint8Array>;
  /** Makes a new master key; older ones stay known. Without it, the provider changes its master key by its own means. */
  renew?(): Promise<void>;
  /** Forgets all master keys but the current one. Called when no data key needs the others. */
  forgetOld?(): Promise<void>;
}

/** Uses master keys of a file, the environment or the keychain of the system. */
export function keyProviderOf(masters: MasterKeys): KeyProvider {
  return {
    place: masters.place,
    wrap: async (key, bound, isFirst) => {
      const master = await masterForNew(masters, async () => !isFirst);
      return { master: master.id, wrapped: seal(master.bytes, key, bound) };
    },
    unwrap: async ({ master, wrapped }, bound) => {
      const known = await masters.find(master);
      if (!known)
        throw keyUnavailable(`The master key ${master} is not in ${masters.place}.`, {
          master,
          place: masters.place,
          reason: 'wrong key',
        });
      const key = open(known.bytes, wrapped, bound);
      if (key?.length === KEY_BYTES) return key;
      throw keyUnavailable('A wrapped data key was changed.', { master, reason: 'damaged' });
    },
    renew: async () => {
      await masters.renew();
    },
    forgetOld: () => masters.forgetOld(),
  };
}
