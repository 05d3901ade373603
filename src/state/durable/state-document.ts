/**
 * One document: keeps its journal and its file consistent. All methods run while this process holds the write lease.
 *
 * A change first appends the record, which makes it durable, and then replaces the file. After a crash in between, the file is
 * behind, and the next process to look updates it. A file that is neither the newest version nor behind was edited by a person.
 */
import type { Clock } from '../../core/clock.js';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import type { Decision } from '../../storage/shared-journal.js';
import { describeProblem, type EditProblem, judgeEdit, mergeRefused, unknownBase } from './edit-verdict.js';
import { type MergeConflict, mergeEdit } from './merge-edit.js';
import { migrateDocument } from './migrate.js';
import { type CompiledState, versionOfDocument } from './state-definition.js';
import { digestOf, encodeEvent, type StateAt, type StateChange } from './state-event.js';
import { type FileContent, type FileStanding, StateFile } from './state-file.js';
import { StateLog } from './state-log.js';
import { checkedValue, storedText, storedValue } from './state-value.js';

export interface StateDocumentOptions {
  readonly backend: StorageBackend;
  readonly folder: Name;
  readonly state: CompiledState;
  /** The document's name: that of the definition, unless one definition has several documents. */
  readonly name: string;
  readonly clock: Clock;
  readonly waitMs?: number;
  readonly onVersion: (state: StateAt) => void;
  readonly onMerged: (merge: EditMerge) => void;
  /** The file could not be replaced; it stays behind until the next attempt. */
  readonly onFileFailed: (error: RekindleError) => void;
}

/** A person's edit that cannot be adopted. The file stays as it is. */
export interface RefusedEdit {
  readonly code: string;
  readonly problems: readonly EditProblem[];
}

/**
 * What must happen before the document can be used. `adopt`: take over a person's edit. `write-file`: write a file that is missing or
 * behind.
 */
export type StateTask = 'create' | 'import' | 'recover' | 'adopt' | 'write-file' | 'migrate';

interface Look {
  readonly content: FileContent | null;
  readonly task: StateTask | null;
  readonly refused: RefusedEdit | null;
  /** The value of the file, if it is taken over. */
  readonly adopted: JsonObject | null;
  /** How an edit of an older version was merged into the newest. */
  readonly merged: EditMerge | null;
}

/** A person edited an older version, and the edit was merged into the newest one. */
export interface EditMerge {
  /** The version that they had opened; `into` is the version that it was merged into. */
  readonly opened: number;
  readonly into: number;
  /** Places that agents had changed differently: their value stays. */
  readonly conflicts: readonly MergeConflict[];
  /** The backup of the saved file, below `backups`; null without conflicts. */
  readonly backup: string | null;
}

const NOTHING_ADOPTED = { refused: null, adopted: null, merged: null } as const;

export class StateDocument {
  readonly log: StateLog;
  readonly #file: StateFile;
  readonly #options: StateDocumentOptions;
  #swept = false;

  constructor(options: StateDocumentOptions) {
    this.#options = options;
    const { backend, folder, name, state } = options;
    this.#file = new StateFile(backend.documents, folder, name, state.definition.schema);
    this.log = new StateLog(backend, {
      folder,
      name,
      onVersion: options.onVersion,
      rescue: (digest) => this.#valueOfFile(digest),
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  /** Makes journal and file consistent; then `log.current` is the newest version. Writes nothing if nothing changed. */
  async settle(): Promise<RefusedEdit | null> {
    await this.log.refresh();
    let look = await this.look();
    for (let tries = 0; look.task !== null && tries < 10; tries += 1) {
      const done = await this.log
        .change(() => this.#turn())
        .catch((thrown) => this.#unlessReadable(thrown, look));
      if (!done) break;
      look = await this.look();
    }
    return look.refused;
  }

  /** The known state is returned even if the file cannot be updated. */
  #unlessReadable(thrown: unknown, { task }: Look): false {
    if (task !== 'write-file' || !isRekindleError(thrown) || isRekindleError(thrown, 'LEASE_HELD'))
      throw thrown;
    this.#options.onFileFailed(thrown);
    return false;
  }

  async #turn(): Promise<Decision<JsonObject, boolean>> {
    const look = await this.look();
    // The file must not outlive the record that it shows.
    if (look.task === 'write-file') return { secure: true, done: () => this.#writeFile(look.content) };
    if (look.task === null) return { done: () => false };
    const change = await this.#changeFor(look.task, look);
    const { state, backend } = this.#options;
    const value = storedValue(state, change.value, backend.redactor);
    return this.decide({ ...change, value }, look.content);
  }

  /** Appends a change, then replaces the file. */
  decide<T>(
    change: StateChange,
    content: FileContent | null,
    result?: () => T,
  ): Decision<JsonObject, T | boolean> {
    return {
      record: encodeEvent(this.log.current, change, this.#lostVersions(change, content)),
      done: async () => {
        const written = await this.#writeFile(content);
        return result ? result() : written;
      },
    };
  }

  /** Versions that the journal lost: their numbers are not reused. */
  #lostVersions({ event }: StateChange, content: FileContent | null): number {
    const shown = event === 'recovered' ? (content?.shows?.version ?? 0) : 0;
    return Math.max(this.log.lostAtEnd, shown - (this.log.current?.version ?? 0) - 1);
  }

  async #writeFile(content: FileContent | null): Promise<boolean> {
    const { version, digest } = this.log.current!;
    const isSame = content && isJsonObject(content.value) && digestOf(content.value) === digest;
    if (isSame && (content.shows === null || content.shows.version === version)) return true;
    try {
      await this.#file.replace(this.log.current!, content);
      await this.#sweepOnce();
      return true;
    } catch (thrown) {
      if (!isRekindleError(thrown)) throw thrown;
      this.#options.onFileFailed(thrown);
      return false;
    }
  }

  /** Removes leftovers of killed processes. Other live writers keep theirs. */
  async #sweepOnce(): Promise<void> {
    if (this.#swept) return;
    this.#swept = true;
    await this.#options.backend.sweep(this.#options.folder, { shared: true }).catch(() => {}); // leftovers are harmless
  }

  /** Compares the file with the journal. Reads only. @throws UNSUPPORTED_VERSION, STATE_INVALID for a file without a journal */
  async look(): Promise<Look> {
    const content = await this.#file.read();
    const { current } = this.log;
    const look = { content, ...NOTHING_ADOPTED };
    if (!current) return this.#firstLook(content);
    this.#assertNotNewer(current.value);
    const standing = await this.#file.standing(content, current, () => this.log.backward());
    if (standing === 'edited' || standing === 'ahead') return this.#edited(content!, standing);
    if (standing === 'edited-old' || (standing === 'behind' && content!.shows))
      return this.#olderCopy(content!, current);
    const older = versionOfDocument(current.value) !== this.#options.state.version;
    return { ...look, task: older ? 'migrate' : taskFor(standing) };
  }

  async #firstLook(content: FileContent | null): Promise<Look> {
    const { state } = this.#options;
    const look = { content, ...NOTHING_ADOPTED };
    if (!content) return { ...look, task: state.definition.initial === undefined ? null : 'create' };
    if (!isJsonObject(content.value)) throw refusedFile(this.#options.name, await judgeEdit(state, content));
    this.#assertNotNewer(content.value);
    const version = versionOfDocument(content.value);
    const isOlder = version !== null && version < state.version && state.migrations.has(version);
    if (isOlder) return { ...look, task: 'import', adopted: content.value };
    const verdict = await judgeEdit(state, content);
    if (verdict.kind === 'refused') throw refusedFile(this.#options.name, verdict);
    return { ...look, task: 'import', adopted: verdict.value };
  }

  async #edited(content: FileContent, standing: 'edited' | 'ahead'): Promise<Look> {
    const look = { content, ...NOTHING_ADOPTED };
    const verdict = await judgeEdit(this.#options.state, content);
    if (verdict.kind === 'refused') return { ...look, task: null, refused: verdict };
    const task = this.log.lostAtEnd > 0 || standing === 'ahead' ? 'recover' : 'adopt';
    return { ...look, task, adopted: verdict.value };
  }

  /** The file shows an older version: either nobody edited it since, or a person edited what they had opened then. */
  async #olderCopy(content: FileContent, current: StateAt): Promise<Look> {
    const look = { content, ...NOTHING_ADOPTED };
    const shows = content.shows!;
    const base = await this.log.at(shows.version).catch(() => null); // a damaged journal may not have it
    if (base?.digest !== shows.digest) return { ...look, task: null, refused: await unknownBase(content) };
    const digest = digestOf(content.value as JsonObject);
    if (digest === shows.digest || (await this.#isAdopted(digest, shows.version)))
      return { ...look, task: 'write-file' };
    const { state } = this.#options;
    const verdict = await judgeEdit(state, content);
    if (verdict.kind === 'refused') return { ...look, task: null, refused: verdict };
    const from = migrateDocument(state, base.value).value;
    const { value, conflicts } = mergeEdit(from, verdict.value, migrateDocument(state, current.value).value);
    const problems = state.violations(value);
    if (problems.length > 0) return { ...look, task: null, refused: await mergeRefused(content, problems) };
    const merged = { opened: shows.version, into: current.version, conflicts, backup: null };
    const isNothing = conflicts.length === 0 && digestOf(value) === current.digest;
    return { ...look, task: isNothing ? 'write-file' : 'adopt', adopted: value, merged };
  }

  /** The edit is in the journal, and only the file could not be updated. */
  async #isAdopted(digest: string, after: number): Promise<boolean> {
    for await (const event of this.log.backward()) {
      if (event.version <= after) return false;
      if (event.file === digest) return true;
    }
    return false;
  }

  #assertNotNewer(value: JsonObject): void {
    const version = versionOfDocument(value);
    if (version !== null && version > this.#options.state.version)
      migrateDocument(this.#options.state, value);
  }

  async #changeFor(task: Exclude<StateTask, 'write-file'>, look: Look): Promise<StateChange> {
    const { state, clock } = this.#options;
    const at = new Date(clock.nowMs()).toISOString();
    const by = 'rekindle';
    if (task === 'create')
      return { event: 'created', by, why: null, at, value: checkedValue(state, state.definition.initial) };
    if (task === 'import')
      return {
        event: 'imported',
        by,
        why: 'the file was there before its journal',
        at,
        value: look.adopted!,
      };
    const lost = 'the file shows a version that the journal has lost';
    if (task === 'recover') return { event: 'recovered', by, why: lost, at, value: look.adopted! };
    return task === 'adopt' ? this.#adoption(look) : this.#migration(at);
  }

  /** A person's edit is dated by the time when the file was saved. */
  async #adoption({ content, adopted, merged }: Look): Promise<StateChange> {
    const now = this.#options.clock.nowMs();
    const before = Date.parse(this.log.current!.at);
    const at = new Date(Math.min(now, Math.max(before, content!.modifiedMs))).toISOString();
    const saved = content!.value as JsonObject;
    const digest = digestOf(saved);
    const from = versionOfDocument(saved);
    const hasConflicts = (merged?.conflicts.length ?? 0) > 0;
    // Back up the person's text if a migration or a merge drops some of it.
    const isKept = from !== this.#options.state.version || hasConflicts;
    const backup = isKept ? await this.#backUp(from ?? 0, digest, content!.text) : null;
    const touched = this.#options.state.hasHumanTouch ? { last_human_touch: at } : {};
    const value = { ...adopted!, ...touched };
    if (merged) this.#options.onMerged({ ...merged, backup });
    return {
      event: 'human_edit',
      by: 'human',
      why: merged && describeMerge(merged, backup),
      at,
      value,
      file: digest,
    };
  }

  async #migration(at: string): Promise<StateChange> {
    const { state } = this.#options;
    const old = this.log.current!;
    const { value, from, to } = migrateDocument(state, old.value);
    const backup = await this.#backUp(from, old.digest, this.#file.render(old));
    const why = `schema version ${from} to ${to}; the old document is backups/${backup}`;
    return { event: 'migrated', by: 'rekindle', why, at, value };
  }

  /** @returns the name of the backup */
  async #backUp(version: number, digest: string, text: string): Promise<string> {
    const { backend, folder, name } = this.#options;
    const backup = `${name}.v${version}-${digest.slice(0, 8)}.json`;
    const kept = backend.redactor ? storedText(text, backend.redactor) : text;
    await backend.documents.writeBytes([...folder, 'backups', backup], Buffer.from(kept));
    return backup;
  }

  async #valueOfFile(digest: string): Promise<JsonObject | null> {
    const value = (await this.#file.read())?.value;
    return isJsonObject(value) && digestOf(value) === digest ? value : null;
  }

  /** Moves a refused edit aside and writes the newest version to the file. Returns its new name; null if there was none. */
  async discardEdit(): Promise<string | null> {
    await this.log.refresh();
    let aside: string | null = null; // kept if the change is retried
    return this.log.change(async () => {
      const { refused } = await this.look();
      if (refused) aside = await this.#file.setAside('refused');
      const done = async () => {
        if (aside !== null) await this.#writeFile(null);
        return aside;
      };
      return { secure: true, done };
    });
  }

  close(): Promise<void> {
    return this.log.close();
  }
}

/** Text for the history. */
function describeMerge({ opened, into, conflicts }: EditMerge, backup: string | null): string {
  const text = `an edit of version ${opened}, merged into version ${into}`;
  if (conflicts.length === 0) return text;
  const paths = conflicts.map(({ path }) => path).slice(0, 10);
  const more = conflicts.length > paths.length ? `, and ${conflicts.length - paths.length} more` : '';
  return `${text}; the newer value stays at ${paths.join(', ')}${more}; the file as it was saved is backups/${backup}`;
}

function taskFor(standing: FileStanding): StateTask | null {
  return standing === 'missing' || standing === 'behind' ? 'write-file' : null;
}

function refusedFile(name: string, refused: { readonly kind: string } & Partial<RefusedEdit>): RekindleError {
  const problems = refused.problems ?? [];
  const lines = problems.slice(0, 3).map(describeProblem).join('; ');
  return new RekindleError('STATE_INVALID', `${name}.json is refused: ${lines.replace(/\.$/, '')}.`, {
    details: { name, problems: problems as unknown as JsonValue },
  });
}
