/** A stored checkpoint in LangGraph's form: with channel values and pending writes. */
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
  TASKS,
} from '@langchain/langgraph-checkpoint';
import { knownValue } from './channel-values.js';
import { configOf } from './checkpoint-config.js';
import type { ValueStore } from './stored-value.js';
import type { ChannelPlace, CheckpointEntry, WriteEntry } from './thread-contents.js';
import type { ThreadIndex } from './thread-index.js';
import type { ThreadLog } from './thread-log.js';
import type { CheckpointRecord, ThreadRecord } from './thread-record.js';
import type { ChannelValue } from './value-delta.js';

/** Older checkpoints do not store pending sends in their channels. */
const SENDS_SINCE_V = 4;

export interface TupleSource {
  readonly log: ThreadLog;
  readonly index: ThreadIndex;
  readonly values: ValueStore;
  readonly threadId: string;
  /** The first version of a channel without one. */
  readonly firstVersion: () => number;
}

/**
 * @throws JOURNAL_DAMAGED, BLOB_DAMAGED (also if the thread is deleted meanwhile), and what the serializer
 * throws
 */
export async function readTuple(source: TupleSource, entry: CheckpointEntry): Promise<CheckpointTuple> {
  const { log, index, values, threadId } = source;
  const { ns, id, parent } = entry;
  const places = [...entry.channels.values()];
  const writes = index.contents.writes(ns, id);
  const records = await log.records(index, [
    entry.seq,
    ...places.flatMap(({ seq }) => seq ?? []),
    ...writes.map(({ seq }) => seq),
  ]);
  const record = records.get(entry.seq);
  if (record?.type !== 'checkpoint' || record.id !== id || record.ns !== ns) throw log.notThere(entry.seq);
  const checkpoint: Checkpoint = {
    v: record.v,
    id,
    ts: record.ts,
    channel_values: await channelValues(source, ns, places, records),
    channel_versions: channelVersions(places),
    versions_seen: structuredClone(record.seen) as Checkpoint['versions_seen'], // the caller's own
  };
  if (record.v < SENDS_SINCE_V && parent !== undefined) await addSends(source, checkpoint, ns, parent);
  return {
    config: configOf(threadId, ns, id),
    checkpoint,
    metadata: (await values.load(entry.metadata, log.blobs)) as CheckpointMetadata,
    pendingWrites: await pendingWrites(source, writes, records),
    ...(parent === undefined ? {} : { parentConfig: configOf(threadId, ns, parent) }),
  };
}

async function channelValues(
  source: TupleSource,
  ns: string,
  places: readonly ChannelPlace[],
  records: ReadonlyMap<number, ThreadRecord>,
): Promise<Record<string, unknown>> {
  const stored = places.filter(({ seq }) => seq !== null);
  const loading = stored.map(async (place) => {
    const value = valueAt(records.get(place.seq!), ns, place);
    if (!value) throw source.log.notThere(place.seq!);
    return [place.channel, await channelValue(source, place, value)] as const;
  });
  return Object.fromEntries(await Promise.all(loading));
}

async function channelValue(
  source: TupleSource,
  { channel, seq }: ChannelPlace,
  value: ChannelValue,
): Promise<unknown> {
  const { log, values } = source;
  if (!('delta' in value)) return values.load(value, log.blobs);
  const { type, bytes } = await knownValue(source, channel, seq!);
  return values.loadBytes(type, Uint8Array.from(bytes));
}

function valueAt(record: ThreadRecord | undefined, ns: string, place: ChannelPlace): ChannelValue | null {
  if (record?.type !== 'checkpoint' || record.ns !== ns) return null;
  const isIt = ([channel, version]: CheckpointRecord['channels'][number]) =>
    channel === place.channel && version === place.version;
  const value = record.channels.find(isIt)?.[2];
  return typeof value === 'object' ? value : null;
}

function channelVersions(places: readonly ChannelPlace[]): ChannelVersions {
  return Object.fromEntries(
    places.flatMap(({ channel, version }) => (version === null ? [] : [[channel, version] as const])),
  );
}

async function pendingWrites(
  { log, values }: TupleSource,
  writes: readonly WriteEntry[],
  records: ReadonlyMap<number, ThreadRecord>,
): Promise<CheckpointPendingWrite[]> {
  const loading = writes.map(async ({ seq, task, idx, channel }): Promise<CheckpointPendingWrite> => {
    const record = records.get(seq);
    const rows = record?.type === 'writes' && record.task === task ? record.writes : [];
    const row = rows.findLast(([at, name]) => at === idx && name === channel);
    if (!row) throw log.notThere(seq);
    return [task, channel, await values.load(row[2], log.blobs)];
  });
  return Promise.all(loading);
}

/** The parent's pending sends become a channel. */
async function addSends(
  source: TupleSource,
  checkpoint: Checkpoint,
  ns: string,
  parent: string,
): Promise<void> {
  const { log, index, firstVersion } = source;
  const sends = index.contents.writes(ns, parent).filter(({ channel }) => channel === TASKS);
  const records = await log.records(
    index,
    sends.map(({ seq }) => seq),
  );
  const written = await pendingWrites(source, sends, records);
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_values[TASKS] = written.map(([, , value]) => value);
  checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : firstVersion();
}
