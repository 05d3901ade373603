import { type Clock, systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import { TypedEvents } from '../../core/events.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { changesBetween, type JsonPatchStep } from '../../core/json-patch.js';
import type { SchemaViolation } from '../../core/schema-check.js';
import { readLocalFile } from '../../storage/file/local-file.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import type { Decision } from '../../storage/shared-journal.js';
import type { ChangeOptions, CommitOptions, PatchOptions, StateUpdate } from './change-options.js';
import { describeProblem } from './edit-verdict.js';
import { mergeAt } from './merge-at.js';
import {
  type CompiledState,
  compileState,
  type StateDefinition,
  type StateOf,
  type StateSchema,
  versionOfDocument,
} from './state-definition.js';
import { type EditMerge, type RefusedEdit, StateDocument } from './state-document.js';
import type { StateAt, StateEvent } from './state-event.js';
import { type StateInspection, type StateSnapshot, snapshotOf } from './state-snapshot.js';
import { checkedValue, stateInvalid, storedValue, violationsOf } from './state-value.js';
import { StateWatch } from './state-watch.js';

/** Options of `StateManager`: a definition (see `defineState`) and where its document is stored. */
export interface StateOptions<Schema extends StateSchema> extends StateDefinition<Schema> {
  readonly backend: StorageBackend;
  /** Folder of the documents. Default `['state']`. */
  readonly folder?: Name;
  /** How long agents cannot write after a person's edit, in ms. Default 5,000. */
  readonly humanHoldMs?: number;
  /** How long to wait while other processes write, in ms. Default 15,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

/** Event names and payloads, for `manager.events.on(name, listener)`. */
export type StateManagerEvents<T> = {
  /** A new version, by any process, in order. */
  changed: StateSnapshot<T>;
  /** A person's edit is invalid; the file stays as they wrote it. */
  edit_refused: RefusedEdit;
  /** A person edited an older version; their changes were merged into the newest one, apart from conflicts. */
  edit_merged: EditMerge;
  /** The file could not be updated; the state itself is durable. */
  file_failed: { readonly error: RekindleError };
};

const HUMAN_HOLD_MS = 5_000;
/** For a file that is edited again and again. */
const UNSETTLED_MAX = 20;
const UNSETTLED = Symbol('unsettled');

/**
 * Durable state: one JSON document that agents and people change, checked against its schema at each step.
 *
 * The journal (`<name>.events.jsonl`) records every change with author, time and reason, and is the source of truth. The file
 * (`<name>.json`) is for people to read and edit. Several processes may use one document at once; no update is lost.
 *
 *     const board = await StateManager.open({ ...taskBoard, backend });
 *     await board.update((draft) => void draft.tasks.push(task), { by: 'planner' });
 *     await board.close();
 */
export class StateManager<T = JsonObject> {
  readonly name: string;
  readonly events = new TypedEvents<StateManagerEvents<T>>();
  readonly #options: StateOptions<StateSchema>;
  readonly #state: CompiledState;
  readonly #document: StateDocument;
  readonly #watch: StateWatch;
  readonly #clock: Clock;
  #refused: RefusedEdit | null = null;

  /** Reads nothing yet. @throws INVALID_ARGUMENT for an invalid definition, INVALID_NAME */
  constructor(options: StateOptions<StateSchema>) {
    const folder = options.folder ?? ['state'];
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#state = compileState(options);
    this.#document = new StateDocument({
      backend: options.backend,
      folder,
      state: this.#state,
      name: options.name,
      clock: this.#clock,
      onVersion: (state) => this.events.emit('changed', snapshotOf<T>(state)),
      onMerged: (merge) => this.events.emit('edit_merged', merge),
      onFileFailed: (error) => this.events.emit('file_failed', { error }),
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
    this.#watch = new StateWatch(options.backend, folder, options.name, () => this.#settle());
  }

  /** A manager with its document loaded. @throws what `load` throws */
  static async open<const Schema extends StateSchema>(
    options: StateOptions<Schema>,
  ): Promise<StateManager<StateOf<Schema>>> {
    const manager = new StateManager<StateOf<Schema>>(options);
    try {
      await manager.load();
      return manager;
    } catch (thrown) {
      await manager.close();
      throw thrown;
    }
  }

  /**
   * The newest version. Also adopts a person's edit, migrates an older schema version, and creates a missing document from `initial`.
   * @throws STATE_NOT_FOUND, STATE_INVALID (a file without a journal), HUMAN_EDIT (a refused edit keeps an older schema version),
   * UNSUPPORTED_VERSION, MIGRATION_FAILED, JOURNAL_DAMAGED
   */
  async load(): Promise<StateSnapshot<T>> {
    await this.#settle();
    const { current } = this.#document.log;
    // The refused edit prevents the migration, and this program cannot use the older schema version.
    if (current && this.#refused && versionOfDocument(current.value) !== this.#state.version)
      throw this.#refusal(this.#refused);
    if (current) return snapshotOf<T>(current);
    throw new RekindleError('STATE_NOT_FOUND', `There is no document ${JSON.stringify(this.name)} here.`, {
      details: { name: this.name },
    });
  }

  /** Like `load`, but writes nothing and reports what `load` would do. @throws as `load`, except STATE_NOT_FOUND */
  async inspect(): Promise<StateInspection<T>> {
    await this.#document.log.refresh();
    const { task, refused } = await this.#document.look();
    const { current } = this.#document.log;
    return { current: current && snapshotOf<T>(current), pending: task, refused };
  }

  /** A person's edit that must be fixed; null if there is none. As of the last `load` or change. */
  get refusedEdit(): RefusedEdit | null {
    return this.#refused;
  }

  /** The JSON Schema of the current schema version. */
  get schema(): StateSchema {
    return this.#state.definition.schema;
  }

  /** Every reason to refuse a value; empty if it is valid. */
  validate(value: unknown): SchemaViolation[] {
    return violationsOf(this.#state, value);
  }

  /**
   * Changes the newest value. Durable when it resolves with the new version; resolves with the same version if nothing changed.
   * @throws STATE_INVALID with every violation, STATE_TOO_LARGE, HUMAN_EDIT, LEASE_HELD, what `update` throws; nothing changes then
   */
  async update(update: StateUpdate<T>, options: ChangeOptions = {}): Promise<StateSnapshot<T>> {
    let attempt = 0;
    return this.#write(options, async (current) => {
      attempt += 1;
      const draft = structuredClone(current.value) as T;
      return (await update(draft, { version: current.version, attempt })) ?? draft;
    });
  }

  /**
   * Replaces the whole value.
   * @param options `ifVersion`: only if that is still the newest version, else DOCUMENT_CONFLICT
   * @throws as `update`
   */
  async commit(value: T, options: CommitOptions = {}): Promise<StateSnapshot<T>> {
    return this.#write(options, async (current) => {
      this.#assertVersion(current, options);
      return value;
    });
  }

  /**
   * Changes the newest value by a merge patch (RFC 7396): members are replaced, `null` removes one, a list is replaced as a whole.
   * Applied twice in a row, it changes nothing the second time.
   * @param options `pointer`: the place that the patch is for, such as `/tasks/3`, or `/tasks/-` for a new item; `ifVersion`: as in `commit`
   * @throws as `commit`, and INVALID_ARGUMENT if there is no such place, or the patch is not plain JSON
   */
  async patch(patch: JsonValue, options: PatchOptions = {}): Promise<StateSnapshot<T>> {
    return this.#write(options, async (current) => {
      this.#assertVersion(current, options);
      return mergeAt(current.value, options.pointer ?? '', patch);
    });
  }

  /** The changes, newest first. */
  async *history(options: { readonly limit?: number } = {}): AsyncGenerator<StateEvent> {
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    await this.#document.log.refresh();
    for await (const event of this.#document.log.backward()) {
      if (left-- <= 0) return;
      yield event;
    }
  }

  /** The document at a version, in the schema of that time; null if there is none. @throws JOURNAL_DAMAGED */
  async at(version: number): Promise<StateSnapshot<T> | null> {
    await this.#document.log.refresh();
    const state = await this.#document.log.at(version);
    return state && snapshotOf<T>(state);
  }

  /** The patch from one version to another. @throws STATE_NOT_FOUND */
  async diff(from: number, to: number): Promise<JsonPatchStep[]> {
    const [before, after] = [await this.at(from), await this.at(to)];
    if (before && after) return changesBetween(before.value as JsonValue, after.value as JsonValue);
    throw new RekindleError('STATE_NOT_FOUND', `${this.name} has no version ${before ? to : from}.`, {
      details: { name: this.name, from, to },
    });
  }

  /** Watches for edits by people and changes by other processes, and emits `events` for them. The returned function stops it. */
  watch(): Promise<() => Promise<void>> {
    return this.#watch.start();
  }

  /**
   * Stores a large value next to the document. Durable when it resolves.
   * @param source bytes, or the path of a file
   * @returns the reference to store in the document: `sha256:` and 64 hex digits
   */
  async attach(source: string | Uint8Array): Promise<string> {
    const bytes = typeof source === 'string' ? await readLocalFile(source) : source;
    return `sha256:${(await this.#artifacts.put(bytes)).digest}`;
  }

  /** The bytes of a reference; null if they are not stored. @throws BLOB_DAMAGED */
  async artifact(reference: string): Promise<Uint8Array | null> {
    const digest = /^sha256:([0-9a-f]{64})$/.exec(reference)?.[1];
    return digest === undefined ? null : this.#artifacts.get(digest);
  }

  get #artifacts() {
    return this.#options.backend.blobs([...(this.#options.folder ?? ['state']), 'artifacts']);
  }

  /** Moves a refused edit aside and updates the file. Returns the edit's new name; null if there is none. */
  async discardEdit(): Promise<string | null> {
    const aside = await this.#document.discardEdit();
    await this.#settle();
    return aside;
  }

  async close(): Promise<void> {
    await this.#watch.close();
    await this.#document.close();
  }

  #assertVersion({ version }: StateAt, { ifVersion }: CommitOptions): void {
    if (ifVersion === undefined || ifVersion === version) return;
    throw new RekindleError('DOCUMENT_CONFLICT', `${this.name} is now at version ${version}.`, {
      details: { name: this.name, version, currentVersion: version, ifVersion },
    });
  }

  async #settle(): Promise<void> {
    const before = this.#refused;
    this.#refused = await this.#document.settle();
    if (this.#refused && JSON.stringify(this.#refused) !== JSON.stringify(before))
      this.events.emit('edit_refused', this.#refused);
  }

  async #write(
    options: ChangeOptions,
    next: (current: StateAt) => Promise<unknown>,
  ): Promise<StateSnapshot<T>> {
    for (let tries = 1; ; tries += 1) {
      const written = await this.#document.log.change(() => this.#turn(options, next));
      if (written !== UNSETTLED) return written;
      await this.load();
      if (tries === UNSETTLED_MAX)
        throw this.#humanEdit(HUMAN_HOLD_MS, 'The file is edited again and again.');
    }
  }

  async #turn(
    { by = 'agent', why = '' }: ChangeOptions,
    next: (current: StateAt) => Promise<unknown>,
  ): Promise<Decision<JsonObject, StateSnapshot<T> | typeof UNSETTLED>> {
    const { log } = this.#document;
    const look = await this.#document.look();
    if (look.refused) throw this.#refusal(look.refused);
    if ((look.task !== null && look.task !== 'write-file') || !log.current) return { done: () => UNSETTLED };
    if (by !== 'human') this.#assertNotHeldOff(log.current);
    const given = checkedValue(this.#state, await next(log.current));
    const value = storedValue(this.#state, given, this.#options.backend.redactor);
    if (by !== 'human' && this.#state.hasHumanTouch) this.#assertTouchKept(log.current.value, value);
    const result = () => snapshotOf<T>(log.current!);
    if (changesBetween(log.current.value, value).length === 0) return { done: result };
    const at = new Date(this.#clock.nowMs()).toISOString();
    const change = { event: 'updated' as const, by, why: why === '' ? null : why, at, value };
    return this.#document.decide(change, look.content, result) as Decision<JsonObject, StateSnapshot<T>>;
  }

  #assertNotHeldOff(current: StateAt): void {
    const hold = this.#options.humanHoldMs ?? HUMAN_HOLD_MS;
    const remaining = Math.min(hold, Date.parse(current.at) + hold - this.#clock.nowMs());
    if (current.by === 'human' && remaining > 0)
      throw this.#humanEdit(remaining, `A person edited it ${hold - remaining} ms ago.`);
  }

  /** The field records when a person edited the file, so an agent must not set it. */
  #assertTouchKept(before: JsonObject, { last_human_touch: touch }: JsonObject): void {
    if ((touch ?? null) === (before['last_human_touch'] ?? null)) return;
    const message = 'is set by the edit of a person alone';
    throw stateInvalid(this.name, [
      { path: '/last_human_touch', rule: 'human', message, value: touch ?? null },
    ]);
  }

  #humanEdit(remainingMs: number, why: string): RekindleError {
    const text = `${this.name} is not written for another ${remainingMs} ms: ${why}`;
    return new RekindleError('HUMAN_EDIT', text, {
      details: { name: this.name, reason: 'recent', remainingMs },
    });
  }

  #refusal({ problems }: RefusedEdit): RekindleError {
    const text = `${this.name}.json holds an edit that is refused: ${problems.slice(0, 3).map(describeProblem).join('; ')}.`;
    const details = { name: this.name, reason: 'refused', problems: problems as unknown as JsonValue };
    return new RekindleError('HUMAN_EDIT', text, { details });
  }
}
