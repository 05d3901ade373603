/** Bugs planted under checkpoints: what is on the disk when their record is, what is swept, and when keys are. */
import { digestOf } from '../../../src/storage/blob-digest.js';
import type { Blobs, Documents, Name, StorageBackend } from '../../../src/storage/ports.js';
import { type OpenStorage, openFileStorage } from '../workload.js';
import { withoutFileSync } from './file-system-bugs.js';

type Changes = Partial<Pick<StorageBackend, 'blobs' | 'documents' | 'close'>>;

/** A storage whose calls go to another one, except those that a bug replaces. */
function changed<T extends object>(target: T, changes: Partial<T>): T {
  return new Proxy(target, {
    get(inner, key) {
      if (key in changes) return Reflect.get(changes, key);
      const value: unknown = Reflect.get(inner, key);
      return typeof value === 'function' ? value.bind(inner) : value;
    },
  });
}

function replacing(parts: (storage: StorageBackend, unsynced: StorageBackend) => Changes): OpenStorage {
  return (fs, options) => {
    const storage = openFileStorage(fs, options);
    const careless = withoutFileSync(fs);
    return changed<StorageBackend>(
      storage,
      parts(storage, openFileStorage(careless, { ...options, fileSystem: careless })),
    );
  };
}

/** The data of a checkpoint is written after the record that names it. */
export const recordBeforeData: OpenStorage = replacing((storage) => {
  const late: (() => Promise<unknown>)[] = [];
  const put = (blobs: Blobs) => async (bytes: Uint8Array) => {
    late.push(() => blobs.put(bytes));
    return { digest: digestOf(bytes), size: bytes.length };
  };
  return {
    blobs: (scope) => {
      const blobs = storage.blobs(scope);
      return changed<Blobs>(blobs, { put: put(blobs) });
    },
    close: async () => {
      for (const write of late) await write();
      await storage.close();
    },
  };
});

/** The data of a checkpoint is written, and not synced, before the record that names it. */
export const dataWithoutSync: OpenStorage = replacing((_, unsynced) => ({
  blobs: (scope) => unsynced.blobs(scope),
}));

/** The data of a checkpoint that was removed goes, though others use it. */
export const sweepOfUsedData: OpenStorage = replacing((storage) => ({
  blobs: (scope) => {
    const blobs = storage.blobs(scope);
    return changed<Blobs>(blobs, {
      async *list() {
        for (const digest of await removedDigests(storage, scope)) await blobs.delete(digest);
        yield* blobs.list();
      },
    });
  },
}));

interface Row {
  readonly number?: number;
  readonly pack?: { readonly digest: string };
  readonly numbers?: readonly number[];
  readonly removes?: readonly number[];
}

async function removedDigests(storage: StorageBackend, scope: Name): Promise<string[]> {
  const journal = await storage.openJournal([...scope.slice(0, -1), 'checkpoints'], { readOnly: true });
  const digests = new Map<number, string>();
  const removed: string[] = [];
  for await (const entry of journal.read()) {
    if (entry.kind !== 'record') continue;
    const { number, pack, numbers = [], removes = [] } = entry.record as Row;
    if (number !== undefined && pack) digests.set(number, pack.digest);
    removed.push(...[...numbers, ...removes].flatMap((gone) => digests.get(gone) ?? []));
  }
  await journal.close();
  return removed;
}

/** Records are sealed with a data key that is not on the disk yet. */
export const keyWithoutSync: OpenStorage = replacing(({ documents }, unsynced) => ({
  documents: changed<Documents>(documents, {
    write: (name, value, options) =>
      (name.at(-1) === 'keys.json' ? unsynced.documents : documents).write(name, value, options),
  }),
}));
