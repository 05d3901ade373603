/** The checkpoints of one session: saving and reading them, under its lock. */
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Blobs, Name, StorageBackend } from '../../storage/ports.js';
import type { CheckpointConfig } from '../config/checkpoint-config.js';
import { ChunkIndex, type ContentPlan, type Extent, planContent } from '../content/content-plan.js';
import { contextHash } from '../content/context-json.js';
import { encodePack } from '../content/pack.js';
import type { MasterKey, MasterKeys } from '../encryption/master-keys.js';
import { type DataKey, MESSAGES_PER_KEY, SessionKeys } from '../encryption/session-keys.js';
import { withinTime } from '../within-time.js';
import type { LayerSummary, SaveRecord } from './checkpoint-record.js';
import { ContentReader, type PackCache } from './content-reader.js';
import { damaged } from './damaged.js';
import { rangesOf } from './number-ranges.js';
import { PackStore } from './pack-store.js';
import { type CheckpointDecision, SessionLog } from './session-log.js';
import type { SessionState } from './session-state.js';

export interface CheckpointSessionOptions {
  readonly backend: StorageBackend;
  readonly folder: Name;
  readonly session: string;
  readonly config: CheckpointConfig;
  readonly masters: MasterKeys;
  /** What a first data key is wrapped with. */
  readonly masterForNew: () => Promise<MasterKey>;
  readonly nowMs: () => number;
  /** Default 2^30. */
  readonly messagesPerKey?: number;
}

/** A context, ready to be saved. */
export interface NewCheckpoint {
  /** Its JSON text, as UTF-8. */
  readonly content: Buffer;
  /** SHA-256 of its canonical JSON, hex. */
  readonly hash: string;
  readonly name?: string;
  readonly agent?: string;
  readonly workflow?: string;
  readonly tags?: readonly string[];
  readonly critical?: true;
  readonly kind?: string;
  readonly layers?: LayerSummary;
}

export interface SaveLimits {
  /** Also when nothing changed. */
  readonly force: boolean;
  /** Bytes that other sessions take. */
  readonly otherBytes: number;
}

export interface SavedCheckpoint {
  readonly status: 'SAVED' | 'SKIPPED_UNCHANGED';
  readonly record: SaveRecord;
  readonly removed: readonly SaveRecord[];
}

/** What was found that nothing refers to. */
export interface Swept {
  readonly blobs: number;
  readonly bytes: number;
}

/** A content that is spread over more packs than this is written whole, as is one that leaves most of what it uses unused. */
const PACKS_MAX = 256;
const UNUSED_FACTOR = 4;
const UNUSED_BYTES_MIN = 64 * 1024;

export class CheckpointSession {
  readonly id: string;
  readonly keys: SessionKeys;
  readonly #options: CheckpointSessionOptions;
  readonly #log: SessionLog;
  readonly #packs: PackStore;
  readonly #blobs: Blobs;
  readonly #reader: ContentReader;
  #index = new ChunkIndex();

  constructor(options: CheckpointSessionOptions) {
    const { backend, folder, session, config, masters, nowMs } = options;
    this.id = session;
    this.#options = options;
    this.keys = new SessionKeys(backend.documents, folder, session, masters);
    this.#log = new SessionLog(backend, {
      folder,
      session,
      keys: this.keys,
      waitMs: config.timeouts.lockMs,
      nowMs,
    });
    this.#blobs = backend.blobs([...folder, 'packs']);
    const timeoutMs = config.timeouts.fileMs;
    const { compression } = config;
    this.#packs = new PackStore({ session, blobs: this.#blobs, keys: this.keys, compression, timeoutMs });
    this.#reader = new ContentReader(session, this.#packs, () => this.#log.state);
  }

  get log(): SessionLog {
    return this.#log;
  }

  /** The newest state. A session without records has no `since`. @throws STORAGE_UNAVAILABLE */
  async read(): Promise<SessionState> {
    const { queryMs } = this.#options.config.timeouts;
    await withinTime(queryMs, 'read the list of checkpoints', this.#log.refresh());
    return this.#log.state;
  }

  /** Durable when it resolves, its data before its record. @throws STORAGE_QUOTA_EXCEEDED, KEY_UNAVAILABLE, LEASE_HELD, and what storage throws */
  async save(input: NewCheckpoint, limits: SaveLimits): Promise<SavedCheckpoint> {
    let key: DataKey | null = null;
    return this.#log.change(
      async (): Promise<CheckpointDecision<SavedCheckpoint>> => {
        key = await this.#keyForWriting();
        const hash = key ? key.digestOf(input.hash) : input.hash;
        const { newest } = this.#log.state;
        if (!limits.force && newest && newest.context.hash === hash)
          return {
            secure: true,
            done: () => ({ status: 'SKIPPED_UNCHANGED', record: newest, removed: [] }),
          };
        return this.#decide(input, hash, key, limits);
      },
      async () => key,
    );
  }

  async #decide(
    { content, hash: _, ...about }: NewCheckpoint,
    hash: string,
    key: DataKey | null,
    limits: SaveLimits,
  ): Promise<CheckpointDecision<SavedCheckpoint>> {
    const { state } = this.#log;
    const number = this.#log.nextNumber;
    const removed = this.#madeRoom();
    const removes = removed.map((record) => record.number);
    const plan = await this.#plan(content, number, about.agent);
    const uses = rangesOf(usedPacks(plan.extents, number));
    const prepared = await this.#packs.prepare(number, encodePack(number, content, plan), key);
    const draft: SaveRecord = {
      type: 'save',
      number,
      at: new Date(this.#options.nowMs()).toISOString(),
      ...about,
      context: { bytes: content.length, hash },
      pack: { digest: '', ...prepared.stored },
      uses,
      ...(removes.length > 0 ? { removes } : {}),
      stored: 0,
    };
    const stored = state.storedBytes(removes, draft);
    this.#assertRoom(stored, limits);
    const record = { ...draft, pack: await this.#packs.put(prepared), stored };
    const done = (): SavedCheckpoint => {
      this.#index.add(number, content, plan.extents);
      return { status: 'SAVED', record, removed };
    };
    return { record, done };
  }

  /** Once a session is encrypted it stays so, whatever the configuration says now. */
  async #keyForWriting(): Promise<DataKey | null> {
    const { config, masterForNew, messagesPerKey = MESSAGES_PER_KEY } = this.#options;
    const isEncrypted = this.#log.isEncrypted || (await this.keys.exists());
    if (!config.encryption.enabled && !isEncrypted) return null;
    if (this.#log.isEncrypted && !(await this.keys.exists())) await this.#log.authenticate(); // lost keys are not replaced by new ones
    return this.keys.forWriting(masterForNew, ({ id }) => this.#log.state.usesOf(id) >= messagesPerKey);
  }

  /** What has to go so that there are not too many. The newest stays: the new one may be the same as it. @throws STORAGE_QUOTA_EXCEEDED */
  #madeRoom(): SaveRecord[] {
    const { maxCheckpoints } = this.#options.config.storage;
    const { state } = this.#log;
    const { checkpoints } = state;
    const excess = checkpoints.length + 1 - maxCheckpoints;
    if (excess <= 0) return [];
    const free = checkpoints.slice(0, -1).filter(({ number }) => !state.isCritical(number));
    if (free.length >= excess) return free.slice(0, excess);
    throw quotaExceeded('checkpoints', checkpoints.length, maxCheckpoints, this.id);
  }

  #assertRoom(stored: number, { otherBytes }: SaveLimits): void {
    const { maxSessionSize, maxTotalSize } = this.#options.config.storage;
    if (stored > maxSessionSize) throw quotaExceeded('session bytes', stored, maxSessionSize, this.id);
    const total = stored + otherBytes;
    if (total > maxTotalSize) throw quotaExceeded('total bytes', total, maxTotalSize, this.id);
  }

  async #plan(content: Buffer, number: number, agent: string | undefined): Promise<ContentPlan> {
    const { state } = this.#log;
    const isThere = (pack: number): boolean => state.isUsed(pack);
    await this.#learn(state, agent);
    this.#index.keepOnly(isThere);
    const plan = planContent(content, number, this.#index, isThere);
    const packs = usedPacks(plan.extents, number);
    const used = packs.reduce((sum, pack) => sum + (state.writerOf(pack)?.record.pack.raw ?? 0), 0);
    if (packs.length <= PACKS_MAX && used <= UNUSED_FACTOR * content.length + UNUSED_BYTES_MIN) return plan;
    this.#index = new ChunkIndex();
    return planContent(content, number, this.#index, isThere);
  }

  /** What was saved last, and what this agent saved last: a session may have several agents. One that cannot be read is not relied on. */
  async #learn(state: SessionState, agent: string | undefined): Promise<void> {
    const { checkpoints } = state;
    const bases = new Set([checkpoints.at(-1), checkpoints.findLast((record) => record.agent === agent)]);
    for (const record of bases) {
      if (!record || this.#index.covers(record.number)) continue;
      try {
        const { content, extents } = await this.#reader.read(record);
        this.#index.add(record.number, content, extents);
      } catch (thrown) {
        if (!isRekindleError(thrown, 'CHECKPOINT_DAMAGED')) throw thrown;
      }
    }
  }

  /** The JSON text that was saved. @throws CHECKPOINT_DAMAGED, KEY_UNAVAILABLE, STORAGE_UNAVAILABLE */
  async content(record: SaveRecord): Promise<Buffer> {
    await this.#log.authenticate();
    if (this.#log.state.find(record.number)?.pack.digest !== record.pack.digest)
      throw damaged(this.id, record.number, 'its record was changed');
    return (await this.#reader.read(record)).content;
  }

  /** That it is what was saved, and fits its record. @throws as `content` */
  async check(record: SaveRecord, cache: PackCache): Promise<void> {
    const { content } = await this.#reader.read(record, cache);
    const digest = contextHash(JSON.parse(content.toString('utf8')) as JsonObject);
    const { key } = record.pack;
    const hash = key === undefined ? digest : (await this.keys.get(key)).digestOf(digest);
    if (hash !== record.context.hash)
      throw damaged(this.id, record.number, 'its content does not match its hash');
  }

  /** @throws as `SessionLog.change` */
  async remove(
    decide: (state: SessionState) => readonly number[],
    why: string,
  ): Promise<readonly SaveRecord[]> {
    return this.#changePlain((state, at) => {
      const numbers = decide(state).filter((number) => state.find(number) !== null);
      const removed = numbers.map((number) => state.find(number)!);
      const stored = state.storedBytes(numbers);
      return {
        record: { type: 'remove', at, numbers, why, stored },
        isNew: numbers.length > 0,
        value: removed,
      };
    });
  }

  /** A key of the context, or a checkpoint. Doing it again changes nothing. */
  async mark(mark: { readonly contextKey: string } | { readonly number: number }): Promise<void> {
    return this.#changePlain((state, at) => {
      const isNew = 'number' in mark ? !state.isCritical(mark.number) : !state.marks.has(mark.contextKey);
      return {
        record: { type: 'mark', at, ...mark, stored: state.storedBytes() },
        isNew,
        value: undefined,
      };
    });
  }

  async #changePlain<T>(
    decide: (
      state: SessionState,
      at: string,
    ) => {
      readonly record: NonNullable<CheckpointDecision<T>['record']>;
      readonly isNew: boolean;
      readonly value: T;
    },
  ): Promise<T> {
    let key: DataKey | null = null;
    return this.#log.change(
      async (): Promise<CheckpointDecision<T>> => {
        key = await this.#keyForWriting();
        const at = new Date(this.#options.nowMs()).toISOString();
        const { record, isNew, value } = decide(this.#log.state, at);
        return isNew ? { record, done: () => value } : { secure: true, done: () => value };
      },
      async () => key,
    );
  }

  /** Wraps the data keys with another master key. How many had another; null when there are none. @throws KEY_UNAVAILABLE, LEASE_HELD */
  async rewrapKeys(master: MasterKey): Promise<number | null> {
    if (!(await this.keys.exists())) return null;
    return this.#log.locked(() => this.keys.rewrap(master));
  }

  /**
   * Data that no live checkpoint uses, and that is older than the grace time; under the lock, so that nothing is being saved. Where a
   * record is damaged or missing, what it refers to is not known, and everything stays.
   * @param remove false only looks
   * @throws KEY_UNAVAILABLE, LEASE_HELD
   */
  async sweep(graceMs: number, remove: boolean): Promise<Swept> {
    if (remove) return this.#log.locked(() => this.#sweepNow(graceMs, true));
    await this.read();
    return this.#sweepNow(graceMs, false);
  }

  async #sweepNow(graceMs: number, remove: boolean): Promise<Swept> {
    await this.#log.authenticate();
    const swept = { blobs: 0, bytes: 0 };
    if (this.#log.state.since === null || this.#log.refused.length > 0) return swept;
    if ((await this.#log.damagedBytes()) > 0) return swept;
    const used = this.#log.state.digests;
    const before = Date.now() - graceMs;
    for await (const { digest, size, storedMs } of this.#blobs.list()) {
      if (used.has(digest) || storedMs > before) continue;
      if (remove) await this.#blobs.delete(digest);
      swept.blobs += 1;
      swept.bytes += size;
    }
    return swept;
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}

function usedPacks(extents: readonly Extent[], own: number): number[] {
  return [...new Set(extents.map(({ pack }) => pack))].filter((pack) => pack !== own).sort((a, b) => a - b);
}

function quotaExceeded(what: string, currentSize: number, maxSize: number, session: string): RekindleError {
  const text = `Saving would take ${currentSize} ${what}, and ${maxSize} are allowed.`;
  return new RekindleError('STORAGE_QUOTA_EXCEEDED', text, {
    details: { what, currentSize, maxSize, session },
  });
}
