/** Checkpoints as a graph makes them, and a look at what is stored of them. */
import { type Checkpoint, type CheckpointMetadata, uuid6 } from '@langchain/langgraph-checkpoint';
import type { RekindleSaver } from '../../../src/adapters/langgraph/index.js';
import { nameKey } from '../../../src/adapters/name-key.js';
import type { JsonObject } from '../../../src/core/json.js';
import type { StorageBackend } from '../../../src/storage/ports.js';

export type Config = Parameters<RekindleSaver['put']>[0];

let clock = 0;

/** Each is later than the one before. */
export function newId(): string {
  return uuid6(clock++);
}

/** Every channel is in version 1, unless said otherwise. */
export function checkpointOf(values: Record<string, unknown>, versions?: Record<string, number>): Checkpoint {
  return {
    v: 4,
    id: newId(),
    ts: new Date().toISOString(),
    channel_values: values,
    channel_versions: versions ?? Object.fromEntries(Object.keys(values).map((channel) => [channel, 1])),
    versions_seen: { node: { input: 1 } },
  };
}

export function metadataOf(step: number, more: Record<string, unknown> = {}): CheckpointMetadata {
  return { source: 'loop', step, parents: {}, ...more };
}

export function thread(threadId: string, ns = ''): Config {
  return { configurable: { thread_id: threadId, checkpoint_ns: ns } };
}

/** Stores values that are all new. */
export function putValues(
  saver: RekindleSaver,
  config: Config,
  values: Record<string, unknown>,
): Promise<Config> {
  const checkpoint = checkpointOf(values);
  return saver.put(config, checkpoint, metadataOf(0), checkpoint.channel_versions);
}

export async function valuesAt(saver: RekindleSaver, config: Config): Promise<unknown> {
  return (await saver.getTuple(config))?.checkpoint.channel_values;
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

export function folderOf(threadId: string): string[] {
  return ['langgraph', 'threads', nameKey(threadId)];
}

export async function recordsOf(storage: StorageBackend, threadId: string): Promise<JsonObject[]> {
  const journal = await storage.openJournal([...folderOf(threadId), 'checkpoints'], { readOnly: true });
  const entries = await all(journal.read());
  await journal.close();
  return entries.flatMap((entry) => (entry.kind === 'record' ? [entry.record] : []));
}

export async function blobsOf(storage: StorageBackend, threadId: string): Promise<Uint8Array[]> {
  const blobs = storage.blobs([...folderOf(threadId), 'values']);
  const stored = await all(blobs.list());
  return Promise.all(stored.map(async ({ digest }) => (await blobs.get(digest))!));
}

/** How often a text is in the records of a thread. */
export async function countIn(storage: StorageBackend, threadId: string, text: string): Promise<number> {
  const records = await recordsOf(storage, threadId);
  return JSON.stringify(records).split(text).length - 1;
}
