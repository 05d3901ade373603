/** Backends with an object store beside them, for the conformance suite. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { LocalObjects, type ObjectStorage, withObjects } from '../../../src/storage/objects/index.js';
import type { StorageTarget } from '../../../src/storage/testing/conformance-kit.js';
import { fileTarget, memoryTarget } from '../conformance-targets.js';

export function memoryObjectsTarget(name: string, fromBytes: number): StorageTarget {
  return withFolder(name, memoryTarget(), fromBytes);
}

export function fileObjectsTarget(name: string, fromBytes: number): StorageTarget {
  return withFolder(name, fileTarget(name), fromBytes);
}

function withFolder(name: string, target: StorageTarget, fromBytes: number): StorageTarget {
  return besideObjects(name, target, fromBytes, async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-objects-'));
    return {
      openObjects: () => new LocalObjects(folder),
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  });
}

/** @param place a fresh place for the objects of one test */
export function besideObjects(
  name: string,
  { capabilities, open }: StorageTarget,
  fromBytes: number,
  place: () => Promise<{ openObjects(): ObjectStorage; remove(): Promise<void> }>,
): StorageTarget {
  return {
    name,
    capabilities,
    open: async () => {
      const { openObjects, remove } = await place();
      const store = await open();
      const wrapped = (backend: typeof store.backend) => withObjects(backend, openObjects(), { fromBytes });
      return {
        backend: wrapped(store.backend),
        reopen: async () => wrapped(await store.reopen()),
        openAnother: async () => wrapped(await store.openAnother()),
        passTime: (ms) => store.passTime(ms),
        destroy: async () => {
          await store.destroy();
          await remove();
        },
      };
    },
  };
}
