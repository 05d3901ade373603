/** Bugs planted around the storage ports: leases and documents. */
import type { Documents, Lease, Leases, StorageBackend } from '../../../src/storage/ports.js';
import { type OpenStorage, openFileStorage } from '../workload.js';

function replacing(
  parts: (storage: StorageBackend) => Partial<Pick<StorageBackend, 'documents' | 'leases'>>,
): OpenStorage {
  return (fs, options) => {
    const storage = openFileStorage(fs, options);
    const replaced = parts(storage);
    return new Proxy(storage, {
      get(target, key) {
        if (key in replaced) return Reflect.get(replaced, key);
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
}

/** A lease that says it is held whatever happened: an old owner goes on writing. */
export const leaseWithoutFencing: OpenStorage = replacing(({ leases }) => ({
  leases: {
    acquire: async (name, options): Promise<Lease> => {
      const lease = await leases.acquire(name, options);
      const { fence, takenOver, unsafeFence } = lease;
      const lost = new AbortController().signal;
      return {
        fence,
        takenOver,
        unsafeFence,
        held: true,
        lost,
        check: async () => {},
        renew: async () => {},
        release: () => lease.release(),
      };
    },
    inspect: (name) => leases.inspect(name),
    list: (prefix) => leases.list(prefix),
  } satisfies Leases,
}));

/** Versions count from 1, and start again after a delete: an old version matches a new value. */
export const versionReused: OpenStorage = replacing(({ documents }) => {
  const counts = new Map<string, number>();
  const keyOf = (name: readonly string[]) => name.join('/');
  return {
    documents: changed(documents, {
      read: async (name) => {
        const found = await documents.read(name);
        return found && { value: found.value, version: String(counts.get(keyOf(name)) ?? 0) };
      },
      write: async (name, value, options = {}) => {
        const { durability = 'durable' } = options;
        await documents.write(name, value, { durability });
        const version = (counts.get(keyOf(name)) ?? 0) + 1;
        counts.set(keyOf(name), version);
        return { version: String(version) };
      },
      delete: async (name) => {
        counts.delete(keyOf(name));
        return documents.delete(name);
      },
    }),
  };
});

/** A cache write that comes late: what was written before is written again over what is newer. */
export const cacheOverNewer: OpenStorage = replacing(({ documents }) => {
  let late: Uint8Array | null = null;
  return {
    documents: changed(documents, {
      overwriteTail: async (name, offset, bytes) => {
        const before = late;
        await documents.overwriteTail(name, offset, bytes);
        late = await documents.readBytes(name);
        if (before) await documents.writeBytes(name, before, { durability: 'cache' });
      },
    }),
  };
});

function changed(documents: Documents, changes: Partial<Documents>): Documents {
  return {
    read: (name) => documents.read(name),
    write: (name, value, options) => documents.write(name, value, options),
    readBytes: (name) => documents.readBytes(name),
    writeBytes: (name, bytes, options) => documents.writeBytes(name, bytes, options),
    overwriteTail: (name, offset, bytes) => documents.overwriteTail(name, offset, bytes),
    modifiedMs: (name) => documents.modifiedMs(name),
    setAside: (name, label) => documents.setAside(name, label),
    delete: (name) => documents.delete(name),
    list: (prefix) => documents.list(prefix),
    ...changes,
  };
}
