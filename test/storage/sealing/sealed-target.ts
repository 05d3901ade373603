/** A store of the conformance suite, behind a sealing in every process that opens it. */
import { EnvironmentKeys } from '../../../src/storage/sealing/environment-keys.js';
import { withSealing } from '../../../src/storage/sealing/sealed-storage.js';
import type { StorageTarget } from '../../../src/storage/testing/conformance-kit.js';

const KEYS = new EnvironmentKeys({ REKINDLE_MASTER_KEY: 'ab'.repeat(32) });

export function sealed(target: StorageTarget): StorageTarget {
  return {
    name: `a sealed ${target.name}`,
    capabilities: target.capabilities,
    open: async () => {
      const store = await target.open();
      return {
        backend: withSealing(store.backend, KEYS),
        reopen: async () => withSealing(await store.reopen(), KEYS),
        openAnother: async () => withSealing(await store.openAnother(), KEYS),
        passTime: (ms) => store.passTime(ms),
        destroy: () => store.destroy(),
      };
    },
  };
}
