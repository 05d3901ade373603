import { type Clock, systemClock } from '../core/clock.js';
import { isRekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { changesBetween, type JsonPatchStep } from '../core/json-patch.js';
import { resolveMemoryBaseDir } from '../storage/memory-base-dir.js';
import { openStorage } from '../storage/open-storage.js';
import type { Name, StorageBackend } from '../storage/ports.js';
import {
  checkpointId,
  checkpointNotFound,
  noneLeft,
  parseCheckpointId,
  sessionNotFound,
} from './checkpoint-id.js';
import { infoOf, listCheckpoints, listSessions } from './checkpoint-list.js';
import { type CheckpointMetadata, type SessionInfo, toMetadata } from './checkpoint-metadata.js';
import type {
  CheckpointServiceOptions,
  LoadedCheckpoint,
  LoadParams,
  MarkParams,
  SaveResult,
} from './checkpoint-params.js';
import { assertQuery, type ListQuery, type Page } from './checkpoint-query.js';
import type { ContextView } from './classify/context-view.js';
import type { CheckpointConfig } from './config/checkpoint-config.js';
import { contextContent, derivedSessionId, withoutRuntimeKeys } from './content/context-json.js';
import { type PruneOptions, type PruneReport, prune } from './maintenance/prune.js';
import { repairSession, type SessionRepair } from './maintenance/repair-session.js';
import { type RotateOptions, type RotationReport, rotateKeys } from './maintenance/rotate-keys.js';
import { type CheckpointStats, statsOf } from './maintenance/stats.js';
import { type VerifyOptions, type VerifyReport, verifyCheckpoints } from './maintenance/verify.js';
import { type OperationKind, OperationTimes } from './operation-times.js';
import {
  AGENT_KIND,
  assertOwnKind,
  checkedAbout,
  isNamedOtherwise,
  refusedParam,
  type SaveParams,
} from './save-params.js';
import { openParts, type ServiceParts } from './service-parts.js';
import type { CheckpointSession, NewCheckpoint } from './session/checkpoint-session.js';
import { markContextKey } from './session/mark-context-key.js';
import { checkpointsClosed } from './session/session-pool.js';

const SWEEP_MS = 60_000;
const NOT_NOTED = 'Nothing was saved, so the name and the tags that were given are not noted.';

/**
 * Saves contexts as checkpoints and loads them again, exactly. Data shared by checkpoints of a session is stored once.
 *
 *     const { checkpointId } = await checkpoints.save({ sessionId: 'billing', context });
 *     const { context } = await checkpoints.load({ checkpointId });
 */
export class CheckpointService {
  readonly backend: StorageBackend;
  readonly folder: Name;
  readonly #options: CheckpointServiceOptions;
  readonly #clock: Clock;
  readonly #ownsBackend: boolean;
  readonly #times: OperationTimes;
  readonly #swept = new WeakMap<CheckpointSession, number>();
  #parts: Promise<ServiceParts> | null = null;
  #isClosed = false;

  /** Reads nothing yet. */
  constructor(options: CheckpointServiceOptions = {}) {
    this.#options = options;
    this.backend = options.backend ?? openStorage(resolveMemoryBaseDir());
    this.#ownsBackend = options.backend === undefined;
    this.folder = options.folder ?? ['checkpoints'];
    this.#clock = options.clock ?? systemClock;
    this.#times = new OperationTimes(options.onOperation);
  }

  /**
   * Saves a context. Durable when it resolves.
   * @throws INVALID_ARGUMENT, INVALID_NAME, LIMIT_EXCEEDED, STORAGE_QUOTA_EXCEEDED, KEY_UNAVAILABLE, LEASE_HELD, and what storage throws
   */
  async save(params: SaveParams): Promise<SaveResult> {
    assertOwnKind(params);
    const { given, leftOut } = withoutRuntimeKeys(params.context, this.#options.isRuntimeKey);
    return this.#save({ ...params, context: given }, leftOut);
  }

  /**
   * Saves the image of a whole agent; use `checkpointAgent`. Agents begin only from checkpoints saved here, so never pass content that a model or a
   * client wrote. @throws as `save`
   */
  async saveAgent(params: Omit<SaveParams, 'kind'>): Promise<SaveResult> {
    return this.#save({ ...params, kind: AGENT_KIND }, []);
  }

  #save(params: SaveParams, leftOut: readonly string[]): Promise<SaveResult> {
    return this.#timed('save', () => this.#saved(params, leftOut));
  }

  async #saved(params: SaveParams, leftOut: readonly string[]): Promise<SaveResult> {
    const about = { ...checkedAbout(params), ...(leftOut.length === 0 ? {} : { leftOut }) };
    const { context, content, hash, sizes } = contextContent(params.context, this.backend.redactor);
    const sessionId = params.sessionId ?? derivedSessionId(about.workflow ?? null, hash);
    const { pool, classifier, config } = await this.#open();
    return pool.use(sessionId, async (session) => {
      const { layers, warnings } = await classifier.summarize(context, sizes, (await session.read()).marks);
      const input: NewCheckpoint = { content, hash, ...about, ...(layers ? { layers } : {}) };
      const force = params.force ?? false;
      const save = async () =>
        session.save(input, { force, otherBytes: await pool.bytesOfOthers(sessionId) });
      const saved = await save().catch((thrown: unknown) => {
        if (!isRekindleError(thrown, 'STORAGE_QUOTA_EXCEEDED')) throw thrown;
        pool.forgetSizes(); // room may have been made since the last look-up
        return save();
      });
      const { state } = session.log;
      pool.noteSize(sessionId, state.storedBytes());
      if (saved.removed.length > 0) await this.#sweep(session, config);
      const metadata = toMetadata(sessionId, saved.record, state);
      if (saved.status === 'SKIPPED_UNCHANGED' && isNamedOtherwise(params, metadata))
        warnings.push(NOT_NOTED);
      return {
        status: saved.status,
        checkpointId: metadata.id,
        sessionId,
        metadata,
        removed: saved.removed.map((record) => toMetadata(sessionId, record, state)),
        warnings,
      };
    });
  }

  /** Removes data of earlier deleted checkpoints, from time to time, because it reads everything. A failure is harmless: a later call tries again. */
  async #sweep(session: CheckpointSession, { storage }: CheckpointConfig): Promise<void> {
    const graceMs = storage.orphanGraceMinutes * 60_000;
    const now = performance.now();
    if (now - (this.#swept.get(session) ?? Number.NEGATIVE_INFINITY) < Math.max(graceMs / 4, SWEEP_MS))
      return;
    this.#swept.set(session, now);
    await session.sweep(graceMs, true).catch(() => {});
  }

  /** The context exactly as saved. @throws CHECKPOINT_NOT_FOUND, SESSION_NOT_FOUND, CHECKPOINT_DAMAGED, KEY_UNAVAILABLE, STORAGE_UNAVAILABLE */
  async load(params: LoadParams): Promise<LoadedCheckpoint> {
    return this.#withNumber('load', params, async (session, number, id, { access }) => {
      const loaded = await session.load(number);
      if (!loaded) throw checkpointNotFound(id);
      await access.note(session.id);
      const context = JSON.parse(loaded.content.toString('utf8')) as JsonObject;
      return { context, metadata: toMetadata(session.id, loaded.record, session.log.state) };
    });
  }

  /** The part of a checkpoint to show a model within a token budget (o200k). @throws as `load`, and RULES_INVALID */
  async view(params: LoadParams & { readonly budget: number }): Promise<ContextView> {
    const { budget } = params;
    if (!Number.isSafeInteger(budget) || budget < 1)
      throw refusedParam('budget', 'it is a whole number of tokens from 1');
    const { context, metadata } = await this.load(params);
    const { pool, classifier } = await this.#open();
    const { marks } = await pool.use(metadata.sessionId, (session) => session.read());
    return classifier.view(context, marks, budget);
  }

  /** The patch from one context to the other. @throws as `load` */
  async diff(fromId: string, toId: string): Promise<JsonPatchStep[]> {
    const from = await this.load({ checkpointId: fromId });
    const to = await this.load({ checkpointId: toId });
    return changesBetween(from.context, to.context);
  }

  /** @throws CHECKPOINT_NOT_FOUND, SESSION_NOT_FOUND */
  async metadata(params: LoadParams): Promise<CheckpointMetadata> {
    return this.#withNumber('metadata', params, async ({ id: sessionId, log: { state } }, number, id) => {
      const record = state.find(number);
      if (!record) throw checkpointNotFound(id);
      return toMetadata(sessionId, record, state);
    });
  }

  /** Newest first, without archived ones unless the query asks for them; within a session in the order of saving. @throws SESSION_NOT_FOUND for a named session, INVALID_ARGUMENT, STORAGE_UNAVAILABLE */
  async list(query: ListQuery = {}): Promise<Page<CheckpointMetadata>> {
    assertQuery(query);
    return this.#timed('list', async () => listCheckpoints((await this.#open()).pool, query));
  }

  /** Sessions with checkpoints, the most recently used first. Unreadable sessions are left out; `stats` names them. */
  async sessions(): Promise<readonly SessionInfo[]> {
    return this.#timed('list', async () => {
      const { pool, access } = await this.#open();
      return (await listSessions(pool, access)).infos;
    });
  }

  /** @throws SESSION_NOT_FOUND */
  async session(sessionId: string): Promise<SessionInfo> {
    const { pool, access } = await this.#open();
    const info = await infoOf(pool, access, sessionId);
    if (info) return info;
    throw sessionNotFound(sessionId);
  }

  /** Marks a context key that no view may drop, or a checkpoint to keep. Durable. @throws SESSION_NOT_FOUND, CHECKPOINT_NOT_FOUND, INVALID_ARGUMENT */
  async markCritical(params: MarkParams): Promise<void> {
    if ('checkpointId' in params) {
      return this.#withNumber('change', params, async (session, number, id) => {
        if (!(await session.mark({ number }))) throw checkpointNotFound(id);
      });
    }
    const { pool } = await this.#open();
    return pool.use(params.sessionId, (session) => markContextKey(session, params.contextKey));
  }

  /**
   * Puts a checkpoint aside: lists leave it out, and it is not the newest one of its session. It can still be loaded by its id, counts
   * as before, and retention removes it as before. Durable. @throws CHECKPOINT_NOT_FOUND
   */
  async archive(id: string): Promise<void> {
    await this.#setArchived(id, true);
  }

  /** Undoes `archive`. Durable. @throws CHECKPOINT_NOT_FOUND */
  async unarchive(id: string): Promise<void> {
    await this.#setArchived(id, false);
  }

  async #setArchived(checkpointId: string, archived: boolean): Promise<void> {
    await this.#withNumber('change', { checkpointId }, async (session, number, id) => {
      await session.setStatus([number], { archived });
      if (session.log.state.find(number) === null) throw checkpointNotFound(id);
    });
  }

  /** Deletes one checkpoint. A `prune` after the grace time removes its data, unless others use it. @throws CHECKPOINT_NOT_FOUND */
  async delete(id: string): Promise<void> {
    await this.#withNumber('change', { checkpointId: id }, async (session, number) => {
      const removed = await session.remove(() => [number], 'deleted');
      if (removed.length === 0) throw checkpointNotFound(id);
    });
  }

  /** Reads and checks everything. Changes nothing, unless `mark` is set. */
  async verify(options: VerifyOptions = {}): Promise<VerifyReport> {
    const { pool, config } = await this.#open();
    return verifyCheckpoints(pool, config.storage.orphanGraceMinutes * 60_000, options);
  }

  /**
   * Repairs a session with a damaged journal: a clean copy replaces the damaged file, which is kept. Missing records count as lost from then on.
   * Durable when it resolves. @throws SESSION_NOT_FOUND, LEASE_HELD, KEY_UNAVAILABLE
   */
  async repair(sessionId: string): Promise<SessionRepair> {
    const { pool } = await this.#open();
    return repairSession(pool, sessionId);
  }

  /** The configuration, with every default. @throws INVALID_ARGUMENT, STORAGE_UNAVAILABLE */
  async config(): Promise<CheckpointConfig> {
    return (await this.#open()).config;
  }

  /** Sizes, counts and limits. @throws STORAGE_UNAVAILABLE */
  async stats(): Promise<CheckpointStats> {
    const { config, pool, access } = await this.#open();
    const { infos, problems } = await listSessions(pool, access);
    return statsOf(infos, problems, config.storage);
  }

  /** Removes checkpoints beyond the limits of age and number, and unreferenced data. With `dryRun` it only reports them. */
  async prune(options: PruneOptions = {}): Promise<PruneReport> {
    const { pool, config } = await this.#open();
    return prune(pool, config.storage, this.#clock.nowMs(), options);
  }

  /** Wraps the data keys of every session with a new master key. No data is rewritten. @throws KEY_UNAVAILABLE, LEASE_HELD */
  async rotateKeys(options: RotateOptions = {}): Promise<RotationReport> {
    const { pool, masters } = await this.#open();
    return rotateKeys(pool, masters, [...this.folder, 'rotation.lease'], options);
  }

  #timed<T>(operation: OperationKind, work: () => Promise<T>): Promise<T> {
    return this.#times.timed(operation, work, async () => (await this.#parts)?.config.targets);
  }

  /** The session and number in question; `work` checks whether the checkpoint exists. */
  async #withNumber<T>(
    operation: OperationKind,
    params: LoadParams,
    work: (session: CheckpointSession, number: number, id: string, parts: ServiceParts) => Promise<T>,
  ): Promise<T> {
    const { checkpointId: id, sessionId } = params ?? {};
    if ((id === undefined) === (sessionId === undefined))
      throw refusedParam('checkpointId', 'give either a checkpointId or a sessionId');
    const place = id === undefined ? { sessionId: sessionId!, number: null } : parseCheckpointId(id);
    return this.#timed(operation, async () => {
      const parts = await this.#open();
      return parts.pool.use(place.sessionId, async (session) => {
        const state = await session.read();
        if (state.since === null && id === undefined) throw sessionNotFound(place.sessionId);
        if (state.since === null && session.log.refused.length === 0) throw checkpointNotFound(id!);
        const number = place.number ?? state.newest?.number;
        if (number === undefined) throw noneLeft(place.sessionId);
        return work(session, number, id ?? checkpointId({ ...place, number }), parts);
      });
    });
  }

  async #open(): Promise<ServiceParts> {
    if (this.#isClosed) throw checkpointsClosed();
    if (!this.#parts) {
      this.#parts = openParts(this.backend, this.folder, this.#clock, this.#options);
      this.#parts.catch(() => (this.#parts = null)); // the next call tries again
    }
    return this.#parts;
  }

  /** Waits for work in progress, and refuses later calls. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const parts = await this.#parts?.catch(() => null);
    await parts?.pool.close();
    if (this.#ownsBackend) await this.backend.close();
  }
}
