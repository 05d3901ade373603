/** Stores over objects, for the conformance suite. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ManualClock } from '../../../src/core/clock.js';
import {
  LocalObjects,
  type ObjectStorage,
  ObjectsStorage,
  type ObjectsStorageOptions,
} from '../../../src/storage/objects/index.js';
import type { StorageTarget } from '../../../src/storage/testing/conformance-kit.js';

/** @param place a fresh place for the objects of one test */
export function objectsTarget(
  name: string,
  place: () => Promise<{ openObjects(): ObjectStorage; remove(): Promise<void> }>,
  options: ObjectsStorageOptions = {},
): StorageTarget {
  const capabilities = { persistent: true, multiProcess: true, multiProcessDocuments: true };
  let stores = 0;
  const open = async () => {
    const { openObjects, remove } = await place();
    const clock = new ManualClock(Date.now());
    const opened: ObjectsStorage[] = [];
    const label = `${name} ${++stores}`;
    const openOne = () => {
      const settings = { clock, place: label, watchMs: 50, ...options };
      const storage = new ObjectsStorage(openObjects(), settings);
      opened.push(storage);
      return storage;
    };
    const closeAll = async () => {
      for (const storage of opened.splice(0)) await storage.close();
    };
    return {
      backend: openOne(),
      reopen: async () => {
        await closeAll();
        return openOne();
      },
      openAnother: async () => openOne(),
      passTime: (ms: number) => clock.advance(ms),
      destroy: async () => {
        await closeAll();
        await remove();
      },
    };
  };
  return { name, capabilities, open };
}

export function folderOfObjectsTarget(options: ObjectsStorageOptions = {}): StorageTarget {
  const place = async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-objects-'));
    return {
      openObjects: () => new LocalObjects(folder),
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  };
  return objectsTarget('ObjectsStorage in a folder', place, options);
}
