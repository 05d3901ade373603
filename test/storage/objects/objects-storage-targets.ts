/** Stores over objects, for the conformance suite. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { ManualClock } from '../../../src/core/clock.js';
import {
  LocalObjects,
  type ObjectStorage,
  ObjectsStorage,
  type ObjectsStorageOptions,
} from '../../../src/storage/objects/index.js';
import type { StorageTarget } from '../../../src/storage/testing/conformance-kit.js';
import { openedStore } from '../conformance-targets.js';

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
    const label = `${name} ${++stores}`;
    const make = (clock: ManualClock) =>
      new ObjectsStorage(openObjects(), { clock, place: label, watchMs: 50, ...options });
    return openedStore(make, remove);
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
