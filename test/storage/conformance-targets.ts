/** The backends that the conformance suite is run against. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ManualClock } from '../../src/core/clock.js';
import { FileStorage, type FileStorageOptions } from '../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { PostgresStorage, type PostgresStorageOptions } from '../../src/storage/postgres/postgres-storage.js';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.js';
import { withTenant } from '../../src/storage/tenants/tenant-storage.js';
import type { OpenedStorage, StorageTarget } from '../../src/storage/testing/conformance-kit.js';
import { emptySchema, newSchemaName, testPostgres } from '../support/postgres-schema.js';

/** One store, opened as often as a test asks. */
export function openedStore(
  make: (clock: ManualClock) => StorageBackend,
  remove: () => Promise<void>,
): OpenedStorage {
  const clock = new ManualClock(Date.now());
  const opened: StorageBackend[] = [];
  const openOne = () => {
    const storage = make(clock);
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
}

/** A backend that keeps what it has below a folder. */
function folderTarget(
  name: string,
  multiProcessDocuments: boolean,
  make: (folder: string, clock: ManualClock) => StorageBackend,
): StorageTarget {
  const open = async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-conformance-'));
    const remove = () => rm(folder, { recursive: true, force: true });
    return openedStore((clock) => make(folder, clock), remove);
  };
  return { name, capabilities: { persistent: true, multiProcess: true, multiProcessDocuments }, open };
}

export function fileTarget(name: string, options: FileStorageOptions = {}): StorageTarget {
  return folderTarget(name, false, (folder, clock) => new FileStorage(folder, { ...options, clock }));
}

export function sqliteTarget(): StorageTarget {
  const make = (folder: string, clock: ManualClock) =>
    new SqliteStorage(path.join(folder, 'store.db'), { clock });
  return folderTarget('SqliteStorage', true, make);
}

/** Null without a server; see `test/support/postgres-global.ts`. One schema for all its tests, emptied after each: making one takes longer. */
export function postgresTarget(options: PostgresStorageOptions = {}): StorageTarget | null {
  const url = testPostgres();
  if (!url) return null;
  const schema = newSchemaName();
  const make = (clock: ManualClock) =>
    new PostgresStorage(url, { partitions: 2, connectionsMax: 4, ...options, schema, clock });
  const capabilities = { persistent: true, multiProcess: true, multiProcessDocuments: true };
  const open = async () => openedStore(make, () => emptySchema(url, schema));
  return { name: 'PostgresStorage', capabilities, open };
}

export function memoryTarget(): StorageTarget {
  const capabilities = { persistent: false, multiProcess: false, multiProcessDocuments: false };
  const open = async () => {
    const clock = new ManualClock(Date.now());
    const backend = new MemoryStorage({ clock });
    return {
      backend,
      reopen: async () => backend,
      openAnother: async () => backend,
      passTime: (ms: number) => clock.advance(ms),
      destroy: () => backend.close(),
    };
  };
  return { name: 'MemoryStorage', capabilities, open };
}

/** A tenant of each store that the target opens. */
export function tenantTarget(target: StorageTarget): StorageTarget {
  return wrappedTarget('a tenant of', target, (store) => withTenant(store, 'Ada & Söhne'));
}

/** Every store that the target opens, behind a wrapper. */
export function wrappedTarget(
  what: string,
  { name, capabilities, open }: StorageTarget,
  wrap: (store: StorageBackend) => StorageBackend,
): StorageTarget {
  return {
    name: `${what} ${name}`,
    capabilities,
    open: async () => {
      const opened = await open();
      return {
        backend: wrap(opened.backend),
        reopen: async () => wrap(await opened.reopen()),
        openAnother: async () => wrap(await opened.openAnother()),
        passTime: (ms) => opened.passTime(ms),
        destroy: () => opened.destroy(),
      };
    },
  };
}
