/** The reducer of the workspace: all entries without their values, and the timing of writes. No I/O. */

import type { JsonObject } from '../../core/json.js';
import type { Cursor, JournalRecord } from '../../storage/ports.js';
import { decodeEntry, type EntryRecord } from './entry-record.js';

/** An entry without its value. */
export interface EntryInfo {
  readonly key: string;
  readonly version: number;
  readonly writtenBy: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Bytes of the value as JSON. */
  readonly sizeBytes: number;
  readonly deleted: boolean;
}

/** With the place of the record that contains the value. */
export interface IndexedEntry extends EntryInfo {
  readonly cursor: Cursor;
}

/** When one agent wrote, and how often. Times are ISO 8601, UTC. */
export interface AgentTiming {
  readonly writes: number;
  readonly firstAt: string;
  readonly lastAt: string;
}

export class EntryIndex {
  readonly entries = new Map<string, IndexedEntry>();
  readonly agents = new Map<string, AgentTiming>();
  /** Rows of another format. */
  skipped = 0;
  /** Null: the keys must be sorted again. Rarely needed, because most changes are to an existing key. */
  #keys: readonly string[] | null = null;

  /** Keys of existing entries, sorted. */
  get keys(): readonly string[] {
    this.#keys ??= [...this.entries.values()].flatMap(({ key, deleted }) => (deleted ? [] : [key])).sort();
    return this.#keys;
  }

  /** The time of the first write; null without one. */
  get createdAt(): string | null {
    let earliest: string | null = null;
    for (const { firstAt } of this.agents.values())
      if (earliest === null || firstAt < earliest) earliest = firstAt;
    return earliest;
  }

  /** Returns the applied change; null for a row of another shape, or for a version that is already known. */
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

  /** Clocks may step back: the first write is the earliest, not the first stored. */
  #time(agent: string, at: string): void {
    const { writes, firstAt, lastAt } = this.agents.get(agent) ?? { writes: 0, firstAt: at, lastAt: at };
    this.agents.set(agent, {
      writes: writes + 1,
      firstAt: at < firstAt ? at : firstAt,
      lastAt: at > lastAt ? at : lastAt,
    });
  }
}
