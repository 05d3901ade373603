/** The same store, through `faultyStorage`. */
import { faultyStorage, noFaults, type StorageTarget } from '../../src/storage/testing/index.js';

export function faultyTarget(target: StorageTarget): StorageTarget {
  const open = async () => {
    const store = await target.open();
    return {
      ...store,
      backend: faultyStorage(store.backend, noFaults),
      reopen: async () => faultyStorage(await store.reopen(), noFaults),
      openAnother: async () => faultyStorage(await store.openAnother(), noFaults),
    };
  };
  return { ...target, name: `${target.name} without a fault`, open };
}
