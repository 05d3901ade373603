/** What is known of every entry without its value, and the timing of the work: the reducer of the workspace. No I/O. */

import type { JsonObject } from '../../core/json.js';
import type { Cursor, JournalRecord } from '../../storage/ports.js';
import { decodeEntry, type EntryRecord } from './entry-record.js';

export interface EntryInfo {
  readonly key: string;
  readonly version: number;
  readonly writtenBy: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Of the value as JSON, in bytes. */
  readonly sizeBytes: number;
  readonly deleted: boolean;
}

/** With the place of the record that holds the value. */
export interface IndexedEntry extends EntryInfo {
  readonly cursor: Cursor;
}

export interface AgentTiming {
  readonly writes: number;
  readonly firstAt: string;
  readonly lastAt: string;
}

export class EntryIndex {
  readonly entries = new Map<string, IndexedEntry>();
  readonly agents = new Map<string, AgentTiming>();
  /** Rows that are none of ours. */
  skipped = 0;
  /** Null: the keys must be sorted again. Most changes are to a key that exists already. */
  #keys: readonly string[] | null = null;

  /** Of the entries that are there, in order. */
  get keys(): readonly string[] {
    this.#keys ??= [...this.entries.values()].flatMap(({ key, deleted }) => (deleted ? [] : [key])).sort();
    return this.#keys;
  }

  /** The change that it was; null for a row of another shape, or of a version that is known already. */
  apply(entry: JournalRecord<JsonObject>): EntryRecord | null {
    const record = decodeEntry(entry.record);
    const known = record && this.entries.get(record.key);
    if (!record || (known && record.version <= known.version)) {
      this.skipped += 1;
      return null;
    }
    const { key, version, writtenBy, at, data } = record;
    const sizeBytes = data === undefined ? 0 : Buffer.byteLength(JSON.stringify(data));
    const deleted = data === undefined;
    if (deleted !== (known?.deleted ?? true)) this.#keys = null;
    this.entries.set(key, { key, version, writtenBy, at, sizeBytes, deleted, cursor: entry.cursor });
    this.#time(writtenBy, at);
    return record;
  }

  /** Clocks step back: the first write is the earliest, not the one that was stored first. */
  #time(agent: string, at: string): void {
    const { writes, firstAt, lastAt } = this.agents.get(agent) ?? { writes: 0, firstAt: at, lastAt: at };
    this.agents.set(agent, {
      writes: writes + 1,
      firstAt: at < firstAt ? at : firstAt,
      lastAt: at > lastAt ? at : lastAt,
    });
  }
}
