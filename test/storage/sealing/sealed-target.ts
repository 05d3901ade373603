/** A store of the conformance suite, behind a sealing in every process that opens it. */
import { EnvironmentKeys } from '../../../src/storage/sealing/environment-keys.js';
import { withSealing } from '../../../src/storage/sealing/sealed-storage.js';
import type { StorageTarget } from '../../../src/storage/testing/conformance-kit.js';
import { wrappedTarget } from '../conformance-targets.js';

const KEYS = new EnvironmentKeys({ REKINDLE_MASTER_KEY: 'ab'.repeat(32) });

export function sealed(target: StorageTarget): StorageTarget {
  return wrappedTarget('a sealed', target, (store) => withSealing(store, KEYS));
}
