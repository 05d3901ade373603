/** Fresh stores of one kind for a campaign, one after the other, by the address that every process can open. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { type Fault, FaultyHttpProxy } from './faulty-http-proxy.js';
import { type PostgresCluster, startPostgres } from './postgres-cluster.js';
import { startS3Server } from './s3-server.js';

/** `s3`: an S3 server on loopback, behind a proxy that fails as networks do. */
export const STORAGE_KINDS = ['file', 'sqlite', 'postgres', 'objects', 's3'] as const;
export type StorageKind = (typeof STORAGE_KINDS)[number];

export interface StorePlaces {
  /** An address for `openStorage`; a folder for files. */
  fresh(): string;
  /** Removes what is at a place in the folder; a schema goes with its server. */
  remove(place: string): Promise<void>;
  close(): Promise<void>;
}

/** Null without a PostgreSQL server: one that REKINDLE_TEST_POSTGRES names, or one of its own. @param folder for files @param seed of the faults of `s3` */
export async function storePlaces(kind: StorageKind, folder: string, seed = 1): Promise<StorePlaces | null> {
  if (kind === 's3') return s3Places(new SeededRandom(seed));
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

/** Of a hundred requests, about so many fail. */
const FAULTS: readonly (readonly [share: number, fault: Fault])[] = [
  [2, { kind: 'status', status: 503 }],
  [1, { kind: 'status', status: 429, retryAfter: '0' }],
  [1, { kind: 'status', status: 500 }],
  [1, { kind: 'reset' }],
  [2, { kind: 'half-body' }],
];

/** Answers are slow now and then, refused, cut off, or lost after the server did what was asked. Each process reads the credentials from its environment. */
async function s3Places(random: SeededRandom): Promise<StorePlaces> {
  const server = await startS3Server();
  const proxy = await FaultyHttpProxy.start(server.url);
  process.env['AWS_ACCESS_KEY_ID'] = server.accessKeyId;
  process.env['AWS_SECRET_ACCESS_KEY'] = server.secretAccessKey;
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  proxy.weather = () => {
    proxy.delayMs = random.below(20) === 0 ? 60 : 0;
    let dice = random.below(100);
    return FAULTS.find(([share]) => (dice -= share) < 0)?.[1];
  };
  let count = 0;
  const endpoint = encodeURIComponent(proxy.url);
  return {
    fresh: () =>
      `s3://${server.bucket}/store-${++count}?region=us-east-1&endpoint=${endpoint}&path_style=true`,
    remove: async () => {},
    async close() {
      await proxy.close();
      await server.close();
    },
  };
}
