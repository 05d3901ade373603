/** The storage that the tests of adapters run on. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openStorage } from '../../src/storage/open-storage.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { emptySchema, newSchemaName, testPostgres } from '../support/postgres-schema.js';

export interface OpenedTarget {
  /** Empty. */
  readonly storage: StorageBackend;
  /** Closes what is open, and opens the same store as the next process would. */
  reopen(): Promise<StorageBackend>;
  /** Closes and deletes everything. */
  destroy(): Promise<void>;
}

export interface Target {
  readonly name: string;
  open(): Promise<OpenedTarget>;
}

/** All of them with `npm run test:long` and `npm run test:postgres`; `npm test` has to be quick. */
const all = process.env['REKINDLE_TEST_TARGETS'] === 'all';

export const TARGETS: readonly Target[] = [
  { name: 'FileStorage', open: () => openInFolder((folder) => `file:${folder}`) },
  ...(all ? [{ name: 'MemoryStorage', open: openMemory }] : []),
  ...(all ? [{ name: 'SqliteStorage', open: () => openInFolder(databaseIn) }] : []),
  ...(all ? postgresTargets() : []),
];

/** For short tests that every store has to pass at once. */
export const EVERY_TARGET: readonly Target[] = all
  ? TARGETS
  : [
      ...TARGETS,
      { name: 'MemoryStorage', open: openMemory },
      { name: 'SqliteStorage', open: () => openInFolder(databaseIn) },
    ];

function databaseIn(folder: string): string {
  return `sqlite:${path.join(folder, 'store.db')}`;
}

async function openMemory(): Promise<OpenedTarget> {
  const storage = openStorage('memory:');
  return { storage, reopen: async () => storage, destroy: () => storage.close() };
}

async function openInFolder(urlIn: (folder: string) => string): Promise<OpenedTarget> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-adapters-'));
  return openUrl(urlIn(folder), () => rm(folder, { recursive: true, force: true }));
}

/** None without a server; see `test/support/postgres-global.ts`. */
function postgresTargets(): Target[] {
  const server = testPostgres();
  if (server === null) return [];
  const schema = newSchemaName();
  const url = `${server}?schema=${schema}&partitions=2&connections=4`;
  return [{ name: 'PostgresStorage', open: async () => openUrl(url, () => emptySchema(server, schema)) }];
}

function openUrl(url: string, empty: () => Promise<void>): OpenedTarget {
  let open = openStorage(url);
  return {
    storage: open,
    reopen: async () => {
      await open.close();
      return (open = openStorage(url));
    },
    destroy: async () => {
      await open.close();
      await empty();
    },
  };
}
