/** Stores content of a thread again, in records that need none of those that stored it before. */
import type { Blobs } from '../../storage/ports.js';
import { knownValue, type ValueSource } from './channel-values.js';
import type { KeptContent, KeptWrites } from './kept-content.js';
import { BASE_MIN, type KnownValue, KnownValues } from './known-values.js';
import { bytesOf, type DumpedValue, type StoredValue, type ValueStore } from './stored-value.js';
import type { ChannelPlace, CheckpointEntry } from './thread-contents.js';
import type { ChannelRow, CheckpointRecord, ContentRecord, WriteRow, WritesRecord } from './thread-record.js';
import { deltaAgainst, knownAt } from './value-delta.js';

export interface SectionTarget {
  readonly values: ValueStore;
  readonly blobs: Blobs;
  /** The number of the first record. */
  readonly first: number;
}

export class SectionRecords {
  readonly #source: ValueSource;
  readonly #target: SectionTarget;
  /** The next record. */
  #seq: number;
  /** The new record of a channel's value, by its old record. */
  readonly #places = new Map<string, Map<number, number>>();
  readonly #known = new KnownValues();
  /** The last new value of each channel: `#known` may have dropped it. */
  readonly #newest = new Map<string, KnownValue>();

  constructor(source: ValueSource, target: SectionTarget) {
    this.#source = source;
    this.#target = target;
    this.#seq = target.first;
  }

  /** Large values are durable when their record is given. @throws JOURNAL_DAMAGED, BLOB_DAMAGED */
  async *of({ checkpoints, writes }: KeptContent): AsyncGenerator<ContentRecord> {
    for (const entry of checkpoints.toSorted((a, b) => a.seq - b.seq)) {
      yield await this.#checkpoint(entry);
      this.#seq += 1;
    }
    for (const kept of writes) yield* this.#writes(kept);
  }

  async #checkpoint(entry: CheckpointEntry): Promise<CheckpointRecord> {
    const { log, index } = this.#source;
    const record = await log.record(index, entry.seq);
    if (record.type !== 'checkpoint' || record.id !== entry.id || record.ns !== entry.ns)
      throw log.notThere(entry.seq);
    const channels: ChannelRow[] = [];
    for (const place of entry.channels.values()) channels.push(await this.#row(entry, place));
    return { ...record, channels, metadata: await this.#copied(entry.metadata) };
  }

  async #row(entry: CheckpointEntry, { channel, version, seq }: ChannelPlace): Promise<ChannelRow> {
    if (seq === null) return [channel, version];
    const places = this.#places.get(channel) ?? new Map<number, number>();
    this.#places.set(channel, places);
    const place = places.get(seq);
    if (place !== undefined) return [channel, version, place];
    const { type, bytes } = await knownValue(this.#source, channel, seq);
    const { values, blobs } = this.#target;
    const dumped = values.serialised(type, bytes);
    const delta = this.#deltaTo(this.#before(entry, channel), dumped);
    const value = knownAt(this.#seq, channel, dumped, delta);
    this.#known.add(value);
    this.#newest.set(channel, value);
    places.set(seq, this.#seq);
    return [channel, version, delta?.value ?? (await values.keep(dumped, blobs))];
  }

  #deltaTo(before: KnownValue | undefined, dumped: DumpedValue) {
    return before && dumped.bytes.length >= BASE_MIN ? deltaAgainst(before, dumped) : null;
  }

  /** The value of the parent, which a fork shares most with; else the last one. */
  #before({ ns, parent }: CheckpointEntry, channel: string): KnownValue | undefined {
    const { contents } = this.#source.index;
    const seq = parent === undefined ? null : contents.checkpoint(ns, parent)?.channels.get(channel)?.seq;
    const place = typeof seq === 'number' ? this.#places.get(channel)?.get(seq) : undefined;
    return (place !== undefined && this.#known.find(channel, place)) || this.#newest.get(channel);
  }

  async *#writes({ ns, id, entries }: KeptWrites): AsyncGenerator<WritesRecord> {
    const { log, index } = this.#source;
    for (const seq of new Set(entries.map((entry) => entry.seq))) {
      const record = await log.record(index, seq);
      if (record.type !== 'writes' || record.ns !== ns || record.checkpoint !== id) throw log.notThere(seq);
      const rows: WriteRow[] = [];
      for (const { idx, channel } of entries.filter((entry) => entry.seq === seq)) {
        const row = record.writes.findLast(([at, name]) => at === idx && name === channel);
        if (!row) throw log.notThere(seq);
        rows.push([idx, channel, await this.#copied(row[2])]);
      }
      yield { ...record, writes: rows };
      this.#seq += 1;
    }
  }

  async #copied(stored: StoredValue): Promise<StoredValue> {
    const { values, blobs } = this.#target;
    const bytes = await bytesOf(stored, this.#source.log.blobs);
    return values.keep(values.serialised(stored.type, bytes), blobs);
  }
}
