/** Fresh stores of one kind for a campaign, one after the other, by the address that every process can open. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { type PostgresCluster, startPostgres } from './postgres-cluster.js';

export const STORAGE_KINDS = ['file', 'sqlite', 'postgres', 'objects'] as const;
export type StorageKind = (typeof STORAGE_KINDS)[number];

export interface StorePlaces {
  /** An address for `openStorage`; a folder for files. */
  fresh(): string;
  /** Removes what is at a place in the folder; a schema goes with its server. */
  remove(place: string): Promise<void>;
  close(): Promise<void>;
}

/** Null without a PostgreSQL server: one that REKINDLE_TEST_POSTGRES names, or one of its own. @param folder for files */
export async function storePlaces(kind: StorageKind, folder: string): Promise<StorePlaces | null> {
  let count = 0;
  const file = () => path.join(folder, `store-${++count}`);
  if (kind !== 'postgres') {
    const addresses = {
      file: () => file(),
      sqlite: () => `sqlite:${path.join(file(), 'store.db')}`,
      objects: () => `objects:${file()}`,
    };
    const folderOf = (place: string) => {
      if (place.startsWith('sqlite:')) return path.dirname(place.slice('sqlite:'.length));
      return place.replace(/^objects:/, '');
    };
    const fresh = addresses[kind];
    const remove = (place: string) => fs.rm(folderOf(place), { recursive: true, force: true });
    return { fresh, remove, close: async () => {} };
  }
  const given = process.env['REKINDLE_TEST_POSTGRES'];
  const cluster: Pick<PostgresCluster, 'url' | 'stop'> | null = given
    ? { url: given, stop: async () => {} }
    : await startPostgres();
  if (cluster === null) return null;
  const run = `places_${process.pid}_${Date.now().toString(36)}`;
  const fresh = () => `${cluster.url}?schema=${run}_${++count}&partitions=2&connections=4`;
  return { fresh, remove: async () => {}, close: () => cluster.stop() };
}
