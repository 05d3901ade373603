/** The checkpoints of one session: saves and reads them, under its lock. */
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Blobs, Name, StorageBackend } from '../../storage/ports.js';
import type { MasterKey, MasterKeys } from '../../storage/sealing/master-keys.js';
import type { CheckpointConfig } from '../config/checkpoint-config.js';
import { contextHash } from '../content/context-json.js';
import { contentDigest, encodePack } from '../content/pack.js';
import { type DataKey, MESSAGES_PER_KEY, SessionKeys } from '../encryption/session-keys.js';
import { readWithin } from '../within-time.js';
import {
  type CheckpointLabels,
  isTooOld,
  type SaveRecord,
  type StatusChange,
  type StoredPack,
} from './checkpoint-record.js';
import { ContentPlanner, usedPacks } from './content-planner.js';
import { ContentReader, type PackCache } from './content-reader.js';
import { damaged } from './damaged.js';
import { numbersIn, rangesOf } from './number-ranges.js';
import { PackStore, type PreparedPack } from './pack-store.js';
import { quotaExceeded } from './quota-exceeded.js';
import { ownerOf } from './record-owner.js';
import { type CheckpointDecision, SessionLog } from './session-log.js';
import type { SessionState } from './session-state.js';
import { type Swept, sweepPacks } from './sweep-packs.js';

export interface CheckpointSessionOptions {
  readonly backend: StorageBackend;
  readonly folder: Name;
  readonly session: string;
  readonly config: CheckpointConfig;
  readonly masters: MasterKeys;
  /** The master key for a first data key. */
  readonly masterForNew: () => Promise<MasterKey>;
  /** Whether any session of the store is encrypted. */
  readonly othersAreEncrypted: () => Promise<boolean>;
  readonly nowMs: () => number;
  /** Default 2^30. */
  readonly messagesPerKey?: number;
}

/** A context to save. */
export interface NewCheckpoint extends CheckpointLabels {
  /** Its JSON text, as UTF-8. */
  readonly content: Buffer;
  /** SHA-256 of its canonical JSON, hex. */
  readonly hash: string;
}

export interface SaveLimits {
  /** Save even if nothing changed. */
  readonly force: boolean;
  /** Bytes of other sessions. */
  readonly otherBytes: number;
}

export interface SavedCheckpoint {
  readonly status: 'SAVED' | 'SKIPPED_UNCHANGED';
  readonly record: SaveRecord;
  readonly removed: readonly SaveRecord[];
}

/** The outcome of a decision; with `isNew` false nothing is written. */
interface PlainChange<T> {
  readonly record: NonNullable<CheckpointDecision<T>['record']>;
  readonly isNew: boolean;
  readonly value: T;
}

export class CheckpointSession {
  readonly id: string;
  readonly keys: SessionKeys;
  readonly log: SessionLog;
  readonly #options: CheckpointSessionOptions;
  readonly #packs: PackStore;
  readonly #blobs: Blobs;
  readonly #reader: ContentReader;
  readonly #planner: ContentPlanner;

  constructor(options: CheckpointSessionOptions) {
    const { backend, folder, session, config, masters, nowMs } = options;
    const { timeouts, compression } = config;
    this.id = session;
    this.#options = options;
    this.keys = new SessionKeys(backend.documents, folder, session, masters);
    this.log = new SessionLog(backend, { folder, session, keys: this.keys, waitMs: timeouts.lockMs, nowMs });
    this.#blobs = backend.blobs([...folder, 'packs']);
    const packs = { session, blobs: this.#blobs, keys: this.keys, compression, timeoutMs: timeouts.fileMs };
    this.#packs = new PackStore(packs);
    this.#reader = new ContentReader(session, this.#packs, () => this.log.state);
    this.#planner = new ContentPlanner(this.log, this.#reader, this.#packs);
  }

  /**
   * The newest state; authenticated if the keys are available. `since` is null without records. @throws
   * STORAGE_UNAVAILABLE
   */
  async read(): Promise<SessionState> {
    const { queryMs } = this.#options.config.timeouts;
    await readWithin(queryMs, 'read the list of checkpoints', () => this.log.refresh());
    await this.log.authenticate().catch((thrown: unknown) => {
      if (!isRekindleError(thrown, 'KEY_UNAVAILABLE')) throw thrown; // a list needs no key
    });
    return this.log.state;
  }

  /**
   * Saves a checkpoint, its data before its record. Durable when it resolves. @throws STORAGE_QUOTA_EXCEEDED,
   * KEY_UNAVAILABLE, LEASE_HELD, and what storage throws
   */
  async save(input: NewCheckpoint, limits: SaveLimits): Promise<SavedCheckpoint> {
    return this.log.change(async (seq): Promise<CheckpointDecision<SavedCheckpoint>> => {
      await this.log.lookAgain();
      const key = await this.#keyForWriting(seq);
      const hash = key ? key.digestOf(input.hash) : input.hash;
      const { newest } = this.log.state;
      await this.#planner.prepare(input.agent);
      const isSame =
        !limits.force &&
        newest?.context.hash === hash &&
        this.#planner.knows(newest) &&
        (await this.#planner.isWhole(newest));
      return isSame ? this.#skip(newest, input, key) : this.#decide(seq, input, hash, key, limits);
    });
  }

  /** Saves nothing except a new `critical` mark, if one was requested. */
  #skip(newest: SaveRecord, input: NewCheckpoint, key: DataKey | null): CheckpointDecision<SavedCheckpoint> {
    const done = (): SavedCheckpoint => ({ status: 'SKIPPED_UNCHANGED', record: newest, removed: [] });
    const { state } = this.log;
    const { number } = newest;
    if (!input.critical || state.isCritical(number)) return { done };
    return { record: { type: 'mark', at: this.#now(), number, stored: state.storedBytes() }, key, done };
  }

  async #decide(
    number: number,
    { content, hash: _, ...about }: NewCheckpoint,
    hash: string,
    key: DataKey | null,
    limits: SaveLimits,
  ): Promise<CheckpointDecision<SavedCheckpoint>> {
    const removed = this.#madeRoom(about);
    const removes = removed.map((record) => record.number);
    const plan = await this.#planner.plan(content, number);
    const pack = encodePack(number, contentDigest(this.id, number, content), plan);
    const prepared = await this.#packs.prepare(number, pack, key);
    const draft: SaveRecord = {
      type: 'save',
      number,
      at: this.#now(),
      ...about,
      context: { bytes: content.length, hash },
      pack: { digest: '', ...prepared.stored },
      uses: rangesOf(usedPacks(plan.extents, number)),
      ...(removes.length > 0 ? { removes } : {}),
      stored: 0,
    };
    const stored = this.log.state.storedBytes(removes, draft);
    this.#assertRoom(stored, limits);
    const record = { ...draft, pack: await this.#put(number, prepared), stored };
    const done = (): SavedCheckpoint => {
      this.#planner.learn(number, content, plan.extents);
      return { status: 'SAVED', record, removed };
    };
    return { record, key, done };
  }

  /** Reads the data back, because unreadable data must not be acknowledged. */
  async #put(number: number, prepared: PreparedPack): Promise<StoredPack> {
    const pack = await this.#packs.put(prepared);
    if (await this.#packs.isWhole(number, pack)) return pack;
    throw new RekindleError('STORAGE_FAILED', 'The data of a checkpoint differs from what was written.', {
      details: { sessionId: this.id, number, digest: pack.digest },
    });
  }

  /** An encrypted session stays encrypted, whatever the current configuration is. */
  async #keyForWriting(seq: number): Promise<DataKey | null> {
    const {
      config,
      othersAreEncrypted,
      masterForNew: master,
      messagesPerKey = MESSAGES_PER_KEY,
    } = this.#options;
    const { isEncrypted, keyIds: needed } = this.log;
    const isWanted = config.encryption.enabled ?? (seq === 1 && (await othersAreEncrypted()));
    if (!isWanted && !isEncrypted && !(await this.keys.exists())) return null;
    const isWornOut = ({ id }: DataKey) => this.log.state.usesOf(id) >= messagesPerKey;
    return this.keys.forWriting({ master, isWornOut, seq, needed });
  }

  /**
   * The owner's checkpoints that are too old, or must be removed to stay within the limit of their number.
   * @throws STORAGE_QUOTA_EXCEEDED
   */
  #madeRoom(about: CheckpointLabels): SaveRecord[] {
    const { maxCheckpoints, maxAgeDays } = this.#options.config.storage;
    const { state } = this.log;
    const owner = ownerOf(this.id, about);
    const checkpoints = state.checkpoints.filter((record) => ownerOf(this.id, record) === owner);
    const excess = checkpoints.length + 1 - maxCheckpoints;
    const free = checkpoints.filter(({ number }) => !state.isCritical(number));
    const nowMs = this.#options.nowMs();
    const goes = free.filter((record, index) => index < excess || isTooOld(record, maxAgeDays, nowMs));
    if (goes.length >= excess) return goes;
    throw quotaExceeded('checkpoints', checkpoints.length + 1, maxCheckpoints, this.id);
  }

  #assertRoom(stored: number, { otherBytes }: SaveLimits): void {
    const { maxSessionSize, maxTotalSize } = this.#options.config.storage;
    if (stored > maxSessionSize) throw quotaExceeded('session bytes', stored, maxSessionSize, this.id);
    const total = stored + otherBytes;
    if (total > maxTotalSize) throw quotaExceeded('total bytes', total, maxTotalSize, this.id);
  }

  /**
   * The saved JSON text and its record; null if there is no such checkpoint.
   * @throws CHECKPOINT_DAMAGED, KEY_UNAVAILABLE, STORAGE_UNAVAILABLE
   */
  async load(number: number): Promise<{ readonly content: Buffer; readonly record: SaveRecord } | null> {
    await this.log.authenticate();
    const record = this.log.state.find(number);
    if (!record) return this.#assertNotRefused(number);
    try {
      return { content: (await this.#reader.read(record)).content, record };
    } catch (thrown) {
      if (!isRekindleError(thrown, 'CHECKPOINT_DAMAGED')) throw thrown;
      await this.log.refresh(); // it may have been removed meanwhile, with its data
      if (this.log.state.find(number) === null) return null;
      throw thrown;
    }
  }

  #assertNotRefused(number: number): null {
    if (!this.log.refused.some(({ seq }) => seq === number)) return null;
    throw damaged(this.id, number, 'its record was changed');
  }

  /**
   * Checks that the content is as saved and matches its record. @throws CHECKPOINT_DAMAGED, KEY_UNAVAILABLE,
   * STORAGE_UNAVAILABLE
   */
  async check(record: SaveRecord, cache: PackCache): Promise<void> {
    const { content } = await this.#reader.read(record, cache);
    const digest = contextHash(JSON.parse(content.toString('utf8')) as JsonObject);
    const { key } = record.pack;
    const hash = key === undefined ? digest : (await this.keys.get(key)).digestOf(digest);
    if (hash !== record.context.hash)
      throw damaged(this.id, record.number, 'its content does not match its hash');
  }

  /**
   * Records that missing records are lost for good, so that the rest counts as complete. Returns their
   * number. @throws as `SessionLog.change`
   */
  async acknowledgeLoss(): Promise<number> {
    return this.log.change(async (seq): Promise<CheckpointDecision<number>> => {
      const { gaps, state } = this.log;
      if (gaps.length === 0) return { done: () => 0 };
      const key = await this.#keyForWriting(seq);
      const record = { type: 'lost', at: this.#now(), ranges: gaps, stored: state.storedBytes() } as const;
      return { record, key, done: () => [...numbersIn(gaps)].length };
    });
  }

  /** Returns the removed checkpoints. @throws as `SessionLog.change` */
  async remove(
    decide: (state: SessionState) => readonly number[],
    why: string,
  ): Promise<readonly SaveRecord[]> {
    return this.#changePlain((state, at) => {
      const removed = decide(state).flatMap((number) => state.find(number) ?? []);
      const numbers = removed.map(({ number }) => number);
      const stored = state.storedBytes(numbers);
      return {
        record: { type: 'remove', at, numbers, why, stored },
        isNew: removed.length > 0,
        value: removed,
      };
    });
  }

  /**
   * Marks a context key or a checkpoint; repeating it changes nothing. False if there is no such checkpoint.
   */
  async mark(mark: { readonly contextKey: string } | { readonly number: number }): Promise<boolean> {
    return this.#changePlain((state, at) => {
      const isThere = !('number' in mark) || state.find(mark.number) !== null;
      const isMarked = 'number' in mark ? state.isCritical(mark.number) : state.marks.has(mark.contextKey);
      const record = { type: 'mark', at, ...mark, stored: state.storedBytes() } as const;
      return { record, isNew: isThere && !isMarked, value: isThere };
    });
  }

  /** Of those that exist and differ. Returns how many changed. @throws as `SessionLog.change` */
  async setStatus(numbers: readonly number[], change: StatusChange): Promise<number> {
    return this.#changePlain((state, at) => {
      const changed = numbers.filter(
        (number) => state.find(number) !== null && state.differsFrom(number, change),
      );
      const stored = state.storedBytes();
      return {
        record: { type: 'status', at, numbers: changed, ...change, stored },
        isNew: changed.length > 0,
        value: changed.length,
      };
    });
  }

  async #changePlain<T>(decide: (state: SessionState, at: string) => PlainChange<T>): Promise<T> {
    return this.log.change(async (seq): Promise<CheckpointDecision<T>> => {
      const key = await this.#keyForWriting(seq);
      const { record, isNew, value } = decide(this.log.state, this.#now());
      return isNew ? { record, key, done: () => value } : { done: () => value };
    });
  }

  #now(): string {
    return new Date(this.#options.nowMs()).toISOString();
  }

  /**
   * Wraps the data keys with another master key. Returns how many changed; null if there are none. @throws
   * KEY_UNAVAILABLE, LEASE_HELD
   */
  rewrapKeys(master: MasterKey): Promise<number | null> {
    return this.log.locked(() => this.keys.rewrap(master));
  }

  /**
   * Finds data that no live checkpoint has used for the grace time. Runs under the lock, so that nothing is
   * being saved.
   * @param remove false: only report
   * @throws KEY_UNAVAILABLE, LEASE_HELD
   */
  async sweep(graceMs: number, remove: boolean): Promise<Swept> {
    const options = { log: this.log, blobs: this.#blobs, graceMs, nowMs: this.#options.nowMs };
    if (remove) return this.log.locked((lease) => sweepPacks({ ...options, lease }));
    await this.read();
    return sweepPacks({ ...options, lease: null });
  }

  close(): Promise<void> {
    return this.log.close();
  }
}
