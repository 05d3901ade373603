/** The checkpoints and writes of a thread: the places of their records, without values. */
import { compareWritesSortKeys, writesSortKey } from '@langchain/langgraph-checkpoint';
import type { StoredValue } from './stored-value.js';
import type { ChannelRow, ChannelVersion, CheckpointRecord, WritesRecord } from './thread-record.js';

/** A channel of a checkpoint, with the number of the record that stores its value; null: no value. */
export interface ChannelPlace {
  readonly channel: string;
  readonly version: ChannelVersion | null;
  readonly seq: number | null;
}

export interface CheckpointEntry {
  readonly seq: number;
  readonly ns: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly v: number;
  readonly metadata: StoredValue;
  readonly channels: ReadonlyMap<string, ChannelPlace>;
}

/** A pending write, whose value is in a record of writes. */
export interface WriteEntry {
  readonly seq: number;
  readonly task: string;
  readonly path: string;
  readonly idx: number;
  readonly channel: string;
}

/** Names a checkpoint, which may be missing. */
export interface CheckpointName {
  readonly ns: string;
  readonly id: string;
}

export class ThreadContents {
  readonly #checkpoints = new Map<string, Map<string, CheckpointEntry>>();
  readonly #writes = new Map<string, Map<string, WriteEntry>>();
  /** Numbers of the records with a channel's value in a version: several if a fork diverged. */
  readonly #values = new Map<string, number[]>();
  readonly #newest = new Map<string, number>();

  /** All checkpoints, or those of one namespace. */
  checkpoints(ns?: string): CheckpointEntry[] {
    const spaces = ns === undefined ? [...this.#checkpoints.values()] : [this.#checkpoints.get(ns)];
    return spaces.flatMap((space) => [...(space?.values() ?? [])]);
  }

  namespaces(): string[] {
    return [...this.#checkpoints.keys()];
  }

  /** Without an id: the newest one, which has the greatest id. */
  checkpoint(ns: string, id?: string): CheckpointEntry | undefined {
    if (id !== undefined) return this.#checkpoints.get(ns)?.get(id);
    let newest: CheckpointEntry | undefined;
    for (const entry of this.#checkpoints.get(ns)?.values() ?? [])
      if (newest === undefined || entry.id > newest.id) newest = entry;
    return newest;
  }

  /** In the order in which they must be applied. */
  writes(ns: string, checkpoint: string): WriteEntry[] {
    const entries = [...(this.#writes.get(keyOf(ns, checkpoint))?.values() ?? [])];
    const sortKey = ({ path, task, idx }: WriteEntry) => writesSortKey(path, task, idx);
    return entries.sort((a, b) => compareWritesSortKeys(sortKey(a), sortKey(b)));
  }

  /** The checkpoints that have writes. */
  written(): CheckpointName[] {
    return [...this.#writes.keys()].map((key) => {
      const [ns, id] = JSON.parse(key) as [string, string];
      return { ns, id };
    });
  }

  hasWrite(ns: string, checkpoint: string, task: string, idx: number): boolean {
    return this.#writes.get(keyOf(ns, checkpoint))?.has(keyOf(task, idx)) ?? false;
  }

  valuesOf(ns: string, channel: string, version: ChannelVersion | null): readonly number[] {
    return this.#values.get(keyOf(ns, channel, version)) ?? [];
  }

  /**
   * The last record with a value of a channel, in any namespace, because a graph passes its messages to its
   * subgraphs.
   */
  newestOf(channel: string): number | undefined {
    return this.#newest.get(channel);
  }

  addCheckpoint(seq: number, { ns, id, parent, v, metadata, channels }: CheckpointRecord): void {
    const space = inner(this.#checkpoints, ns);
    const before = parent === undefined ? undefined : space.get(parent);
    const places = channels.map((row) => {
      const place = placeOf(row, seq);
      if (place.seq === seq) this.#addValue(ns, place);
      const same = before?.channels.get(place.channel);
      return same && same.version === place.version && same.seq === place.seq ? same : place; // stored once
    });
    const byChannel = new Map(places.map((place) => [place.channel, place]));
    space.set(id, { seq, ns, id, parent, v, metadata, channels: byChannel });
  }

  #addValue(ns: string, { channel, version, seq }: ChannelPlace): void {
    const key = keyOf(ns, channel, version);
    const known = this.#values.get(key);
    if (known) known.push(seq!);
    else this.#values.set(key, [seq!]);
    this.#newest.set(channel, seq!);
  }

  addWrites(seq: number, { ns, checkpoint, task, path, writes }: WritesRecord): void {
    const known = inner(this.#writes, keyOf(ns, checkpoint));
    for (const [idx, channel] of writes) {
      const key = keyOf(task, idx);
      if (isFinal(idx) && known.has(key)) continue;
      known.set(key, { seq, task, path, idx, channel });
    }
  }
}

/** The first write of a task at an index is kept; special writes, with a negative index, are replaced. */
export function isFinal(idx: number): boolean {
  return idx >= 0;
}

function placeOf([channel, version, value]: ChannelRow, seq: number): ChannelPlace {
  if (value === undefined) return { channel, version, seq: null };
  return { channel, version, seq: typeof value === 'number' ? value : seq };
}

/** A version as text and as number must give two keys. */
function keyOf(...parts: readonly (string | number | null)[]): string {
  return JSON.stringify(parts);
}

function inner<V>(outer: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let found = outer.get(key);
  if (!found) outer.set(key, (found = new Map()));
  return found;
}
