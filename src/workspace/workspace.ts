import { type Clock, systemClock } from '../core/clock.js';
import { isRekindleError, RekindleError } from '../core/errors.js';
import { TypedEvents } from '../core/events.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import { changesBetween, type JsonPatchStep } from '../core/json-patch.js';
import { TimeSlices } from '../core/time-slices.js';
import type { Cursor, JournalRecord, Name, StorageBackend } from '../storage/ports.js';
import { type Decision, SharedJournal } from '../storage/shared-journal.js';
import { WorkspaceConfig } from './config/workspace-config.js';
import { EntryCheck, type EntrySchemas, type WriteNote } from './entries/entry-check.js';
import { EntryIndex, type EntryInfo, type IndexedEntry } from './entries/entry-index.js';
import { decodeEntry, type EntryEventKind, type EntryRecord, encodeEntry } from './entries/entry-record.js';
import { ManifestFile } from './entries/manifest.js';
import { readEntries } from './entries/read-entries.js';
import { type TimingMetrics, timingOf } from './entries/timing.js';
import { scopedFolder, type WorkspaceScope } from './workspace-scope.js';

/** Options of `Workspace`. */
export interface WorkspaceOptions {
  /** Default `['workspace']`. */
  readonly folder?: Name;
  /** The owner. Default `store`: shared by all users of the store. The configuration is the same for all scopes. */
  readonly scope?: WorkspaceScope;
  /** Take precedence over `config/entry_schemas.json`, key by key. */
  readonly schemas?: EntrySchemas;
  /** Whether keys without a schema may be written. Default: the configured value, else `allow`. */
  readonly unknownKeys?: 'allow' | 'refuse';
  /** How long to wait while other processes write, in ms. Default 15,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

/** Author and precondition of a write. */
export interface WriteOptions {
  /** The author. Default `unknown`. */
  readonly agent?: string;
  /** Only if this is still the newest version; 0: only if the key was never written. Else DOCUMENT_CONFLICT. */
  readonly ifVersion?: number;
}

/** The new version of an entry. */
export interface WriteResult {
  readonly key: string;
  readonly version: number;
  /** `decoded`: the value was JSON encoded twice. */
  readonly notes: readonly WriteNote[];
}

/** One version of an entry. */
export interface EntryVersion {
  readonly key: string;
  readonly version: number;
  readonly writtenBy: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly event: EntryEventKind;
  /** Undefined if the version is a deletion. */
  readonly value: JsonValue | undefined;
  /** The version that a rollback restored. */
  readonly from: number | null;
}

/** An existing entry. */
export type Entry = EntryVersion & { readonly value: JsonValue };

/** Event names and payloads, for `workspace.events.on(name, listener)`. */
export type WorkspaceEvents = {
  /** A new version, by any process, in order. */
  changed: EntryVersion;
};

/** Steps back through a key's versions; beyond that, reading the whole journal is faster. */
const STEPS_MAX = 200;

/**
 * A workspace: versioned entries that several agents and processes write and read.
 *
 * The journal `entries.jsonl` is the source of truth and stores each value once; `_manifest.json` is a cache of the newest places.
 *
 *     const { version } = await workspace.write('plan', plan, { agent: 'planner' });
 *     await workspace.write('plan', better, { agent: 'planner', ifVersion: version }); // compare-and-set
 */
export class Workspace {
  readonly folder: Name;
  readonly backend: StorageBackend;
  readonly config: WorkspaceConfig;
  readonly events = new TypedEvents<WorkspaceEvents>();
  readonly #check: EntryCheck;
  readonly #clock: Clock;
  readonly #journal: SharedJournal<JsonObject>;
  readonly #manifest: ManifestFile;
  #index = new EntryIndex();

  /** Reads nothing yet. @throws INVALID_ARGUMENT for an invalid schema */
  constructor(backend: StorageBackend, options: WorkspaceOptions = {}) {
    this.backend = backend;
    const folder = options.folder ?? ['workspace'];
    this.folder = scopedFolder(folder, options.scope ?? 'store');
    this.config = new WorkspaceConfig(backend, folder);
    this.#check = new EntryCheck(options, () => this.config.entryRules(), backend.redactor);
    this.#clock = options.clock ?? systemClock;
    this.#manifest = new ManifestFile(backend, this.folder);
    this.#journal = new SharedJournal(backend, {
      journal: [...this.folder, 'entries'],
      lease: [...this.folder, 'entries.lease'],
      fold: {
        load: async (journal) => {
          const { index, head } = await this.#manifest.load(journal);
          this.#index = index;
          return head;
        },
        apply: (entry) => this.#apply(entry),
      },
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  /**
   * Writes a new version. Durable when it resolves.
   * @throws ENTRY_INVALID (the old value stays), INVALID_ARGUMENT for an invalid key, DOCUMENT_CONFLICT, LEASE_HELD, DOCUMENT_DAMAGED for an
   * unreadable configuration
   */
  async write(key: string, value: unknown, options: WriteOptions = {}): Promise<WriteResult> {
    const checked = await this.#check.check(key, value);
    const { version } = await this.#append(key, options, async () => ({
      event: 'write',
      data: checked.value,
      from: null,
    }));
    return { key, version, notes: checked.notes };
  }

  /** The newest version; null if there is none, or it is deleted. */
  async read(key: string): Promise<Entry | null> {
    await this.#journal.refresh();
    const info = this.#index.entries.get(key);
    if (!info || info.deleted) return null;
    return (await this.#version(info, info.version)) as Entry | null;
  }

  /** The newest versions of many keys, by key; keys without an entry are absent. One pass, in time slices. @throws ABORTED */
  async readMany(
    keys: Iterable<string>,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Map<string, Entry>> {
    await this.#journal.refresh();
    const slices = new TimeSlices(options.signal);
    const { entries } = this.#index;
    const wanted = new Set<IndexedEntry>();
    for (const key of keys) {
      if (slices.isOver) await slices.pause();
      const info = entries.get(key);
      if (info && !info.deleted) wanted.add(info);
    }
    const found = new Map<string, Entry>();
    const take = (record: EntryRecord) => void found.set(record.key, versionOf(record) as Entry);
    await readEntries(await this.#journal.reader(), [...wanted], take, slices);
    return found;
  }

  /** Like `read`, but null if it is older. @param maxAgeSeconds default 300 */
  async readIfFresh(key: string, maxAgeSeconds = 300): Promise<Entry | null> {
    const entry = await this.read(key);
    return entry && this.ageSeconds(entry) <= maxAgeSeconds ? entry : null;
  }

  ageSeconds({ at }: { readonly at: string }): number {
    return Math.max(0, (this.#clock.nowMs() - Date.parse(at)) / 1000);
  }

  /** Null if there is no such version. A deletion is a version without a value. */
  async readVersion(key: string, version: number): Promise<EntryVersion | null> {
    await this.#journal.refresh();
    const info = this.#index.entries.get(key);
    return info && version >= 1 && version <= info.version ? this.#version(info, version) : null;
  }

  /** The versions of a key, newest first. @param limit default 10 */
  async history(key: string, limit = 10): Promise<EntryVersion[]> {
    await this.#journal.refresh();
    const info = this.#index.entries.get(key);
    const versions: EntryVersion[] = [];
    if (!info || limit <= 0) return versions;
    for await (const record of this.#backward(info)) {
      versions.push(versionOf(record));
      if (versions.length >= limit) break;
    }
    return versions;
  }

  /** The patch from one version of a key to another. @throws ENTRY_NOT_FOUND */
  async diff(key: string, from: number, to: number): Promise<JsonPatchStep[]> {
    const [before, after] = [await this.#required(key, from), await this.#required(key, to)];
    return changesBetween(before.value ?? null, after.value ?? null);
  }

  /** Writes an older value as a new version. It must fit the current schema. @throws ENTRY_NOT_FOUND, and as `write` */
  async rollback(key: string, version: number, options: WriteOptions = {}): Promise<WriteResult> {
    const { value } = await this.#required(key, version);
    if (value === undefined) throw notFound(key, version);
    const { notes } = await this.#check.check(key, value);
    const written = await this.#append(key, options, async () => ({
      event: 'rollback',
      data: value,
      from: version,
    }));
    return { key, version: written.version, notes };
  }

  /** Writes a tombstone: the key reads as absent, its history stays, and a later write continues its versions. False if there was no entry. */
  async delete(key: string, options: WriteOptions = {}): Promise<boolean> {
    const written = await this.#append(key, options, async (info) =>
      info && !info.deleted ? { event: 'delete', data: undefined, from: null } : null,
    );
    return written.appended;
  }

  /** Keys of existing entries, sorted. */
  async keys(): Promise<readonly string[]> {
    await this.#journal.refresh();
    return this.#index.keys;
  }

  /** Entries without their values, by key. @param options `deleted`: include tombstones */
  async list(options: { readonly deleted?: boolean } = {}): Promise<EntryInfo[]> {
    await this.#journal.refresh();
    const infos = [...this.#index.entries.values()].filter((info) => options.deleted || !info.deleted);
    return infos.map(({ cursor: _, ...info }) => info).sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** When the agents wrote, and how often. */
  async timing(): Promise<TimingMetrics> {
    await this.#journal.refresh();
    return timingOf(this.#index);
  }

  /** Watches for changes by other processes and emits `events` for them. The returned function stops it. */
  watch(): Promise<() => Promise<void>> {
    return this.#journal.watch();
  }

  async close(): Promise<void> {
    if (this.#manifest.isStale) await this.#saveManifest();
    await this.#journal.close();
  }

  #apply(entry: JournalRecord<JsonObject>): void {
    const record = this.#index.apply(entry);
    if (record) this.events.emit('changed', versionOf(record));
  }

  async #append(
    key: string,
    options: WriteOptions,
    change: (info: IndexedEntry | undefined) => Promise<Pick<EntryRecord, 'event' | 'data' | 'from'> | null>,
  ): Promise<{ readonly version: number; readonly appended: boolean }> {
    return this.#journal.change(
      async (): Promise<Decision<JsonObject, { version: number; appended: boolean }>> => {
        const info = this.#index.entries.get(key);
        assertVersion(key, options.ifVersion, info?.version ?? 0);
        const changed = await change(info);
        if (!changed) return { done: () => ({ version: info?.version ?? 0, appended: false }) };
        const version = (info?.version ?? 0) + 1;
        const at = new Date(this.#clock.nowMs()).toISOString();
        const writtenBy = options.agent ?? 'unknown';
        const record = encodeEntry({ key, version, at, writtenBy, ...changed, prev: info?.cursor ?? null });
        const done = async () => {
          const { sizeBytes } = this.#index.entries.get(key)!;
          if (this.#manifest.isDue(sizeBytes + key.length, this.#index)) await this.#saveManifest();
          return { version, appended: true };
        };
        return { record, done };
      },
    );
  }

  /** The manifest is a cache, so a failed write is ignored. */
  async #saveManifest(): Promise<void> {
    await this.#manifest.save(this.#index, this.#journal.head).catch(() => {});
  }

  async #required(key: string, version: number): Promise<EntryVersion> {
    const found = await this.readVersion(key, version);
    if (found) return found;
    throw notFound(key, version);
  }

  async #version(info: IndexedEntry, version: number): Promise<EntryVersion | null> {
    const records = info.version - version <= STEPS_MAX ? this.#backward(info) : this.#forward(info.key);
    for await (const record of records) if (record.version === version) return versionOf(record);
    return null;
  }

  /** A key's versions, newest first. Each one names the place of the version before. */
  async *#backward(info: IndexedEntry): AsyncGenerator<EntryRecord> {
    let cursor: Cursor | null = info.cursor;
    let version = info.version;
    while (cursor) {
      const record = await this.#recordAt(cursor);
      if (record?.key !== info.key || record.version > version) break; // a repair moved the records
      yield record;
      version = record.version - 1;
      cursor = record.prev;
    }
    if (version < 1 || cursor === null) return;
    const rest = [];
    for await (const record of this.#forward(info.key)) if (record.version <= version) rest.unshift(record);
    yield* rest;
  }

  async *#forward(key: string): AsyncGenerator<EntryRecord> {
    for await (const entry of (await this.#journal.reader()).read({ archived: true })) {
      const record = entry.kind === 'record' ? decodeEntry(entry.record) : null;
      if (record?.key === key) yield record;
    }
  }

  async #recordAt(cursor: Cursor): Promise<EntryRecord | null> {
    const reader = await this.#journal.reader();
    try {
      for await (const entry of reader.read({ cursor, limit: 1, archived: true }))
        return entry.kind === 'record' ? decodeEntry(entry.record) : null;
    } catch (thrown) {
      if (!isRekindleError(thrown, 'INVALID_ARGUMENT')) throw thrown; // its segment was removed
    }
    return null;
  }
}

function versionOf({ key, version, writtenBy, at, event, data, from }: EntryRecord): EntryVersion {
  return { key, version, writtenBy, at, event, value: data, from };
}

function assertVersion(key: string, expected: number | undefined, actual: number): void {
  if (expected === undefined || expected === actual) return;
  throw new RekindleError('DOCUMENT_CONFLICT', `${JSON.stringify(key)} is now at version ${actual}.`, {
    details: { key, version: actual, ifVersion: expected },
  });
}

function notFound(key: string, version: number): RekindleError {
  return new RekindleError(
    'ENTRY_NOT_FOUND',
    `There is no version ${version} of ${JSON.stringify(key)} to take.`,
    {
      details: { key, version },
    },
  );
}
