/** A checkpoint to store. The caller's arguments are checked and serialized before anything is written. */
import type { ChannelVersions, Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { deltaTo, equalValue, type ValueSource } from './channel-values.js';
import type { KnownValue } from './known-values.js';
import type { DumpedValue, ValueStore } from './stored-value.js';
import type { CheckpointEntry } from './thread-contents.js';
import type { Addition } from './thread-log.js';
import { type ChannelRow, type ChannelVersion, type CheckpointRecord, isVersion } from './thread-record.js';
import { knownAt } from './value-delta.js';

export interface GivenCheckpoint {
  readonly ns: string;
  readonly parent: string | undefined;
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  /** Channels that changed since the parent. */
  readonly newVersions: ChannelVersions;
}

/** A new value once its record number is known. */
type NewValue = (seq: number) => KnownValue;

export class CheckpointDraft {
  readonly #values: ValueStore;
  readonly #ns: string;
  readonly #parent: string | undefined;
  readonly #fixed: Pick<CheckpointRecord, 'id' | 'v' | 'ts' | 'seen'>;
  readonly #versions: ReadonlyMap<string, ChannelVersion | null>;
  readonly #changed: ReadonlySet<string>;
  readonly #given: ReadonlyMap<string, unknown>;
  readonly #dumped = new Map<string, DumpedValue>();
  #metadata: DumpedValue | null = null;

  private constructor(values: ValueStore, { ns, parent, checkpoint, newVersions }: GivenCheckpoint) {
    const { v, id, ts } = checkpoint;
    if (typeof id !== 'string' || id === '') throw refused('checkpoint.id', 'it must be a non-empty string');
    if (!Number.isFinite(v)) throw refused('checkpoint.v', 'it must be a number');
    if (typeof ts !== 'string') throw refused('checkpoint.ts', 'it must be a string');
    this.#values = values;
    this.#ns = ns;
    this.#parent = parent;
    this.#fixed = { id, v, ts, seen: seenOf(checkpoint.versions_seen ?? {}) };
    const versions = versionsOf(checkpoint.channel_versions ?? {}, 'checkpoint.channel_versions');
    // An old caller does not list the changed channels, so all may have changed.
    this.#changed = new Set(newVersions ? versionsOf(newVersions, 'newVersions').keys() : versions.keys());
    const unnamed = [...this.#changed].filter((channel) => !versions.has(channel));
    this.#versions = new Map([...versions, ...unnamed.map((channel) => [channel, null] as const)]);
    this.#given = new Map(Object.entries(checkpoint.channel_values ?? {}));
  }

  /** @throws INVALID_ARGUMENT */
  static async of(values: ValueStore, given: GivenCheckpoint): Promise<CheckpointDraft> {
    const draft = new CheckpointDraft(values, given);
    const changed = [...draft.#changed].filter((channel) => draft.#given.has(channel));
    const [metadata] = await Promise.all([
      values.dump(given.metadata, 'metadata'),
      ...changed.map((channel) => draft.#dump(channel)),
    ]);
    draft.#metadata = metadata;
    return draft;
  }

  /** Its record. Large values are durable when this resolves. */
  async addition(source: ValueSource): Promise<Addition> {
    const { log, index } = source;
    const parent = this.#parent === undefined ? undefined : index.contents.checkpoint(this.#ns, this.#parent);
    const added: NewValue[] = [];
    const channels: ChannelRow[] = [];
    for (const [channel, version] of this.#versions)
      channels.push(await this.#row(source, added, parent, channel, version));
    const record: CheckpointRecord = {
      type: 'checkpoint',
      ns: this.#ns,
      ...(this.#parent === undefined ? {} : { parent: this.#parent }),
      ...this.#fixed,
      channels,
      metadata: await this.#values.keep(this.#metadata!, log.blobs),
    };
    const learn = (seq: number) => {
      for (const value of added) index.known.add(value(seq));
    };
    return { record, added: learn };
  }

  /**
   * An unchanged channel has the parent's value. Otherwise a version may stand for several values, because a
   * fork continues the numbering: an existing value is reused only if it is equal. If the parent was removed, an
   * unchanged value may have gone with it, and another branch may have the only value of the version.
   */
  async #row(
    source: ValueSource,
    added: NewValue[],
    parent: CheckpointEntry | undefined,
    channel: string,
    version: ChannelVersion | null,
  ): Promise<ChannelRow> {
    const { log, index } = source;
    const [isChanged, hasValue] = [this.#changed.has(channel), this.#given.has(channel)];
    if (isChanged && !hasValue) return [channel, version];
    const before = parent?.channels.get(channel);
    if (!isChanged && before?.version === version)
      return before.seq === null ? [channel, version] : [channel, version, before.seq];
    const known = index.contents.valuesOf(this.#ns, channel, version);
    const isRemoved = this.#parent !== undefined && parent === undefined;
    if (!isChanged && hasValue && known.length <= 1 && !isRemoved)
      return known.length === 0 ? [channel, version] : [channel, version, known[0]!];
    if (!hasValue) return [channel, version];
    const dumped = this.#dumped.get(channel) ?? (await this.#dump(channel));
    const same = await equalValue(source, channel, known, dumped);
    if (same !== undefined) return [channel, version, same];
    const delta = await deltaTo(source, channel, before?.seq ?? index.contents.newestOf(channel), dumped);
    added.push((seq) => knownAt(seq, channel, dumped, delta));
    return [channel, version, delta?.value ?? (await this.#values.keep(dumped, log.blobs))];
  }

  async #dump(channel: string): Promise<DumpedValue> {
    const dumped = await this.#values.dump(this.#given.get(channel), `channel_values.${channel}`);
    this.#dumped.set(channel, dumped);
    return dumped;
  }
}

function versionsOf(versions: ChannelVersions, argument: string): Map<string, ChannelVersion> {
  const entries = Object.entries(versions);
  for (const [channel, version] of entries)
    if (!isVersion(version))
      throw refused(`${argument}.${channel}`, 'a version must be a number or a string');
  return new Map(entries);
}

function seenOf(seen: Checkpoint['versions_seen']): JsonObject {
  const nodes = Object.entries(seen).map(([node, versions]) => {
    return [node, Object.fromEntries(versionsOf(versions, `checkpoint.versions_seen.${node}`))] as const;
  });
  return Object.fromEntries(nodes);
}

function refused(argument: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${argument} is refused: ${problem}.`, {
    details: { argument, problem },
  });
}
