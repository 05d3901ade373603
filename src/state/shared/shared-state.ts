import { type Clock, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import { TypedEvents } from '../../core/events.js';
import type { JsonValue } from '../../core/json.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';
import { type ChangeQuery, type KeyHistory, newestChanges } from './change-search.js';
import { CommitQueue } from './commit-queue.js';
import {
  type CheckedOperation,
  checkedPatch,
  checkOperation,
  type StateOperation,
  type VersionCondition,
} from './key-decision.js';
import type { KeyState } from './key-layer.js';
import { globalVersionCheck, type PatchOptions } from './patch-condition.js';
import { type BatchResult, decideBatch, decideOne, decidePatch } from './shared-commit.js';
import {
  assertKey,
  assertVersionNumber,
  atIndex,
  invalid,
  type SharedLimits,
  sharedLimits,
} from './shared-limits.js';
import { SharedLog, type SharedLogOptions } from './shared-log.js';
import { type StateSummary, type SummaryOptions, summarize } from './shared-summary.js';
import type { SharedTable, StateChange } from './shared-table.js';

/** Options of `SharedState`. */
export interface SharedStateOptions {
  /** The root session that owns the state. */
  readonly root: string;
  /** Default `['shared']`. */
  readonly folder?: Name;
  readonly limits?: Partial<SharedLimits>;
  /** How long to wait while other processes write, in ms. Default 15,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

/** The acting session. Default `unknown`. */
export interface By {
  readonly by?: string;
}

/** Author and precondition of a change. */
export interface ChangeKeyOptions extends By {
  /** Only at this version, else DOCUMENT_CONFLICT with the current version and value. */
  readonly ifVersion?: VersionCondition;
}

/** A key that has a value. The value is the caller's own copy. */
export interface StateKey {
  readonly key: string;
  readonly value: JsonValue;
  readonly version: number;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly updatedBy: string;
  /** The number of its last change among all changes of the state. */
  readonly globalVersion: number;
}

/** All keys of a state at one global version. */
export interface StateView {
  readonly globalVersion: number;
  /** See `StateChange.history`; undefined before the first change. */
  readonly history?: string;
  /** Sorted by key. */
  readonly keys: readonly StateKey[];
}

/** Changes of keys are reported by `watch` instead. */
export type SharedStateEvents = {
  /** The state was read again, after a repair: changes may have been missed. */
  reloaded: { readonly globalVersion: number };
};

/**
 * State that a root session and all its children read and change at once: keys with JSON values and versions.
 *
 * Linearizable between processes: a change is decided on the newest state and durable when it resolves, and a later read sees it.
 * Waiting changes of one process share one record and its sync.
 *
 *     const { version } = await state.increment('done', 1, { by: 'child_a' });
 *     await state.set('plan', plan, { ifVersion: 3 }); // compare-and-set
 */
export class SharedState {
  readonly root: string;
  readonly events = new TypedEvents<SharedStateEvents>();
  readonly limits: SharedLimits;
  /** The stored values themselves: external listeners get copies. */
  readonly #changes = new TypedEvents<{ changed: StateChange }>();
  readonly #log: SharedLog;
  readonly #redactor: StorageRedactor | null;
  readonly #commits: CommitQueue;

  /** Reads nothing yet. */
  constructor(backend: StorageBackend, options: SharedStateOptions) {
    this.root = options.root;
    this.limits = sharedLimits(options.limits);
    this.#redactor = backend.redactor ?? null;
    this.#log = new SharedLog(backend, {
      ...logOptions(options, this.limits),
      onChange: (change) => this.#changes.emit('changed', change),
      onReload: () => this.events.emit('reloaded', { globalVersion: this.#log.table.globalVersion }),
    });
    this.#commits = new CommitQueue(this.#log, options.clock);
  }

  /** Null if the key has no value. */
  async get(key: string): Promise<StateKey | null> {
    assertKey(key);
    await this.#log.refresh();
    return keyOf(this.#log.table.keys.get(key));
  }

  async getAll(): Promise<StateView> {
    await this.#log.refresh();
    return viewOf(this.#log.table);
  }

  /** 0 before the first change. */
  async globalVersion(): Promise<number> {
    return (await this.position()).globalVersion;
  }

  /** The global version with its history id. A client keeps it to check later whether it may continue from there. */
  async position(): Promise<Omit<StateView, 'keys'>> {
    await this.#log.refresh();
    return positionOf(this.#log.table);
  }

  /**
   * Whether a client with the state of this version may continue from there. False beyond the newest version, and in another history.
   * @param history id for the version; without it only the number counts
   */
  continues(globalVersion: number, history?: string): Promise<boolean> {
    assertVersionNumber('globalVersion', globalVersion);
    return this.#log.continues(globalVersion, history);
  }

  /**
   * Sets a key. Durable when it resolves.
   * @throws DOCUMENT_CONFLICT, LIMIT_EXCEEDED, INVALID_ARGUMENT, LEASE_HELD, STORAGE_FULL, STORAGE_FAILED, JOURNAL_OUTCOME_UNKNOWN
   */
  set(key: string, value: unknown, options: ChangeKeyOptions = {}): Promise<StateKey> {
    return this.#changeKey({ op: 'set', key, value, ...conditionOf(options) }, options);
  }

  /** Adds to a whole number; a key without a value starts at 0. @throws TYPE_MISMATCH, and as `set` */
  increment(key: string, delta = 1, options: ChangeKeyOptions = {}): Promise<StateKey> {
    return this.#changeKey({ op: 'increment', key, delta, ...conditionOf(options) }, options);
  }

  /** Appends to a list; a key without a value starts as an empty one. @throws TYPE_MISMATCH, and as `set` */
  append(key: string, items: readonly unknown[], options: ChangeKeyOptions = {}): Promise<StateKey> {
    return this.#changeKey({ op: 'append', key, items, ...conditionOf(options) }, options);
  }

  /** Merges into an object (RFC 7396); a key without a value starts as an empty one. @throws TYPE_MISMATCH, and as `set` */
  merge(key: string, patch: object, options: ChangeKeyOptions = {}): Promise<StateKey> {
    return this.#changeKey({ op: 'merge', key, patch, ...conditionOf(options) }, options);
  }

  /** False if there was no value. A later value continues the key's versions. @throws as `set` */
  async delete(key: string, options: ChangeKeyOptions = {}): Promise<boolean> {
    const operation = checkOperation({ op: 'delete', key, ...conditionOf(options) }, this.limits);
    return this.#commits.perform(
      options.by,
      decideOne(operation, this.limits, ({ kind }) => kind === 'changed'),
    );
  }

  /**
   * Applies operations in order, all or nothing; each one sees those before it. A conflict is reported in the result. Other errors
   * are thrown, with the index of the operation in `details`.
   */
  async batch(operations: readonly StateOperation[], options: By = {}): Promise<BatchResult> {
    if (!Array.isArray(operations)) throw invalid('operations', 'it is a list of operations');
    const checked = operations.map((operation, index) =>
      atIndex(index, () => checkOperation(operation, this.limits, this.#redactor)),
    );
    return copyOf(await this.#commits.perform(options.by, decideBatch(checked, this.limits)));
  }

  /** A merge patch (RFC 7396) over the keys, all or nothing: `null` deletes a key, an object is merged into its value. */
  async patch(patch: object, options: PatchOptions = {}): Promise<BatchResult> {
    const given = checkedPatch(patch, { ...this.limits, depth: this.limits.depth + 1 });
    for (const key of Object.keys(given)) assertKey(key);
    const checked = this.#redactor?.json(given) ?? given;
    const assertVersion = globalVersionCheck(options);
    return copyOf(await this.#commits.perform(options.by, decidePatch(checked, this.limits, assertVersion)));
  }

  /** The changes of a key. @param limit maximum of changes; default 50 */
  async history(key: string, limit = 50): Promise<KeyHistory> {
    assertKey(key); // `changes` takes no key as all keys
    return this.changes({ key, limit });
  }

  /** The newest changes of all keys, or of those that the query names, newest first. @throws INVALID_ARGUMENT */
  async changes(query: ChangeQuery = {}): Promise<KeyHistory> {
    if (query.key !== undefined) assertKey(query.key);
    if (query.before !== undefined) assertVersionNumber('before', query.before);
    const { changes, all } = await newestChanges(this.#log.wholeHistory(), query);
    const complete = all && (await this.#log.oldestVersion()) === 0;
    return { changes: copyOf(changes), complete, hasMore: !all };
  }

  /**
   * The state after the change with this number; for a number inside a batch, before that batch.
   * @throws HISTORY_GONE with the oldest stored version, INVALID_ARGUMENT beyond the newest
   */
  async at(globalVersion: number): Promise<StateView> {
    assertVersionNumber('globalVersion', globalVersion);
    const current = await this.globalVersion();
    if (globalVersion > current) throw invalid('globalVersion', `the state is at ${current}`);
    return viewOf(await this.#log.at(globalVersion));
  }

  /** The changes after a version, oldest first. @param history id for that version, to verify it. @throws HISTORY_GONE */
  async changesSince(globalVersion: number, limit = 100, history?: string): Promise<StateChange[]> {
    const changes: StateChange[] = [];
    for await (const change of this.changesAfter(globalVersion, history)) {
      if (changes.length >= limit) break;
      changes.push(change);
    }
    return changes;
  }

  /** Like `changesSince`, one by one. @throws HISTORY_GONE, INVALID_ARGUMENT */
  async *changesAfter(globalVersion: number, history?: string): AsyncGenerator<StateChange> {
    if (!(await this.continues(globalVersion, history))) throw await this.#otherHistory(globalVersion);
    for await (const change of this.#log.changesAfter(globalVersion)) yield copyOf(change);
  }

  async #otherHistory(wanted: number): Promise<RekindleError> {
    const [newest, oldest] = await Promise.all([this.globalVersion(), this.oldestVersion()]);
    const text = `Version ${wanted} is not of this history; the state is at version ${newest}.`;
    return new RekindleError('HISTORY_GONE', text, { details: { wanted, oldest, newest } });
  }

  /** The oldest version that `at` can read. */
  oldestVersion(): Promise<number> {
    return this.#log.oldestVersion();
  }

  /** Calls `onChange` for each later change of keys with this prefix, by any process, in order. The returned function stops it. */
  async watch(prefix: string, onChange: (change: StateChange) => void): Promise<() => Promise<void>> {
    await this.#log.refresh();
    const off = this.#changes.on('changed', (change) => {
      if (change.key.startsWith(prefix)) onChange(copyOf(change)); // each watcher gets its own copy
    });
    const stop = await this.#log.watch().catch((thrown: unknown) => {
      off();
      throw thrown;
    });
    return async () => {
      off();
      await stop();
    };
  }

  /** A text for a prompt: most recent changes first, and the keys that did not fit. */
  async summary(options: SummaryOptions = {}): Promise<StateSummary> {
    return summarize((await this.getAll()).keys, options);
  }

  /** Waits for changes in progress. */
  async close(): Promise<void> {
    await this.#commits.close();
    await this.#log.close();
  }

  async #changeKey(operation: StateOperation, options: By): Promise<StateKey> {
    const checked: CheckedOperation = checkOperation(operation, this.limits, this.#redactor);
    const state = await this.#commits.perform(
      options.by,
      decideOne(checked, this.limits, (_, layer) => layer.get(checked.key)),
    );
    return keyOf(state)!;
  }
}

/**
 * Continues a state whose journal is damaged in the middle, with what can be read. (Damage at the end is skipped by the next change.)
 * All versions are raised by the number of possibly lost changes, so that none is reused. Run it before `Journal.repair`, because the
 * clean copies do not show how much was lost. `rekindle repair` does both.
 * @returns how many changes may be missing; 0 if there was no damage
 */
export function recoverSharedState(backend: StorageBackend, options: SharedStateOptions): Promise<number> {
  const limits = sharedLimits(options.limits);
  const silent = { onChange: () => {}, onReload: () => {} };
  return SharedLog.recover(backend, { ...logOptions(options, limits), ...silent });
}

function folderOf({ folder = ['shared'], root }: SharedStateOptions): Name {
  return [...folder, 'state', root];
}

function logOptions(
  options: SharedStateOptions,
  limits: SharedLimits,
): Omit<SharedLogOptions, 'onChange' | 'onReload'> {
  const { waitMs, clock = systemClock } = options;
  const wait = waitMs === undefined ? {} : { waitMs };
  const nowMs = () => clock.nowMs();
  return { folder: folderOf(options), history: limits.history, tombstones: limits.keys, nowMs, ...wait };
}

function conditionOf({ ifVersion }: ChangeKeyOptions): { readonly ifVersion?: VersionCondition } {
  return ifVersion === undefined ? {} : { ifVersion };
}

function keyOf(state: KeyState | undefined): StateKey | null {
  if (state?.value === undefined) return null;
  const { key, version, createdAt, updatedAt, updatedBy, globalVersion } = state;
  return { key, value: copyOf(state.value), version, createdAt, updatedAt, updatedBy, globalVersion };
}

const positionOf = ({ globalVersion, history }: SharedTable) =>
  history === '' ? { globalVersion } : { globalVersion, history };

function viewOf(table: SharedTable): StateView {
  const keys = [...table.keys.own()].map(keyOf).filter((key) => key !== null);
  return { ...positionOf(table), keys: keys.sort((a, b) => (a.key < b.key ? -1 : 1)) };
}

/** Values belong to the state, so callers get a copy. */
function copyOf<T>(value: T): T {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}
