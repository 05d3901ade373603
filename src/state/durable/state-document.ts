/**
 * One document: its journal and its file, brought together. Everything here happens in this process's turn at writing.
 *
 * The order of a change is: the record is appended (from then on it holds, whatever happens), then the file is replaced. A crash in
 * between leaves a file that is behind; the next one who looks brings it up to date. A file that is neither the newest version nor
 * behind was edited by a person.
 */
import type { Clock } from '../../core/clock.js';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import type { Decision } from '../../storage/shared-journal.js';
import { describeProblem, type EditProblem, judgeEdit } from './edit-verdict.js';
import { migrateDocument } from './migrate.js';
import { type CompiledState, versionOfDocument } from './state-definition.js';
import { digestOf, encodeEvent, type StateAt, type StateChange } from './state-event.js';
import { type FileContent, type FileStanding, StateFile } from './state-file.js';
import { StateLog } from './state-log.js';
import { checkedValue } from './state-value.js';

export interface StateDocumentOptions {
  readonly backend: StorageBackend;
  readonly folder: Name;
  readonly state: CompiledState;
  /** Of the document; the definition's, unless there are several documents of one definition. */
  readonly name: string;
  readonly clock: Clock;
  readonly waitMs?: number;
  readonly onVersion: (state: StateAt) => void;
  /** The file could not be replaced: it stays behind until the next try. */
  readonly onFileFailed: (error: RekindleError) => void;
}

/** A person's edit that is not fit to be adopted; the file stays as it is. */
export interface RefusedEdit {
  readonly code: string;
  readonly problems: readonly EditProblem[];
}

/** What there is to do before the document can be used: `adopt` is a person's edit, `write-file` a file that is missing or behind. */
export type StateTask = 'create' | 'import' | 'recover' | 'adopt' | 'write-file' | 'migrate';

interface Look {
  readonly content: FileContent | null;
  readonly task: StateTask | null;
  readonly refused: RefusedEdit | null;
  /** What the file becomes, where it is taken over. */
  readonly adopted: JsonObject | null;
}

export class StateDocument {
  readonly log: StateLog;
  readonly #file: StateFile;
  readonly #options: StateDocumentOptions;

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

  /** Brings journal and file together; afterwards `log.current` is the newest. Writes nothing when nothing changed. */
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

  /** A file that cannot be brought up to date is no reason to withhold what is known. */
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
    const change = look.task === null ? null : await this.#changeFor(look.task, look);
    return change ? this.decide(change, look.content) : { done: () => false };
  }

  /** Appends a change, then replaces the file. */
  decide<T>(
    change: StateChange,
    content: FileContent | null,
    result?: () => T,
  ): Decision<JsonObject, T | boolean> {
    return {
      record: encodeEvent(this.log.current, change, this.log.lostAtEnd),
      done: async () => {
        const written = await this.#writeFile(content);
        return result ? result() : written;
      },
    };
  }

  async #writeFile(content: FileContent | null): Promise<boolean> {
    const { value, version } = this.log.current!;
    if (content && isJsonObject(content.value) && digestOf(content.value) === this.log.current!.digest)
      return true;
    try {
      await this.#file.replace(value, version, content);
      return true;
    } catch (thrown) {
      if (!isRekindleError(thrown)) throw thrown;
      this.#options.onFileFailed(thrown);
      return false;
    }
  }

  /** Compares the file with the journal. Reads only. @throws UNSUPPORTED_VERSION, STATE_INVALID for a file without a journal */
  async look(): Promise<Look> {
    const content = await this.#file.read();
    const { current } = this.log;
    const look = { content, refused: null, adopted: null };
    if (!current) return this.#firstLook(content);
    this.#assertNotNewer(current.value);
    const standing = await this.#file.standing(content, current, () => this.log.backward());
    if (standing === 'edited') return this.#edited(content!);
    const older = versionOfDocument(current.value) !== this.#options.state.version;
    return { ...look, task: older ? 'migrate' : taskFor(standing) };
  }

  async #firstLook(content: FileContent | null): Promise<Look> {
    const { state } = this.#options;
    const look = { content, refused: null, adopted: null };
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

  async #edited(content: FileContent): Promise<Look> {
    const verdict = await judgeEdit(this.#options.state, content);
    if (verdict.kind === 'refused') return { content, task: null, adopted: null, refused: verdict };
    const task = this.log.lostAtEnd > 0 ? 'recover' : 'adopt';
    return { content, task, adopted: verdict.value, refused: null };
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
    if (task === 'recover')
      return { event: 'recovered', by, why: 'the end of the journal is damaged', at, value: look.adopted! };
    return task === 'adopt' ? this.#adoption(look) : this.#migration(at);
  }

  /** A person's edit counts from when the file was saved. */
  async #adoption({ content, adopted }: Look): Promise<StateChange> {
    const now = this.#options.clock.nowMs();
    const before = Date.parse(this.log.current!.at);
    const at = new Date(Math.min(now, Math.max(before, content!.modifiedMs))).toISOString();
    const saved = content!.value as JsonObject;
    const from = versionOfDocument(saved);
    // What a migration drops of a person's words stays somewhere.
    if (from !== this.#options.state.version) await this.#backUp(from ?? 0, digestOf(saved), content!.text);
    const touched = this.#options.state.hasHumanTouch ? { last_human_touch: at } : {};
    const value = { ...adopted!, ...touched };
    return { event: 'human_edit', by: 'human', why: null, at, value, file: digestOf(saved) };
  }

  async #migration(at: string): Promise<StateChange> {
    const { state } = this.#options;
    const { value: old, digest } = this.log.current!;
    const { value, from, to } = migrateDocument(state, old);
    const backup = await this.#backUp(from, digest, this.#file.render(old));
    const why = `schema version ${from} to ${to}; the old document is backups/${backup}`;
    return { event: 'migrated', by: 'rekindle', why, at, value };
  }

  /** @returns its name */
  async #backUp(version: number, digest: string, text: string): Promise<string> {
    const { backend, folder, name } = this.#options;
    const backup = `${name}.v${version}-${digest.slice(0, 8)}.json`;
    await backend.documents.writeBytes([...folder, 'backups', backup], Buffer.from(text));
    return backup;
  }

  async #valueOfFile(digest: string): Promise<JsonObject | null> {
    const value = (await this.#file.read())?.value;
    return isJsonObject(value) && digestOf(value) === digest ? value : null;
  }

  /** Moves a refused edit aside and gives the file the newest version. The name that it got; null when there was none to move. */
  async discardEdit(): Promise<string | null> {
    await this.log.refresh();
    let aside: string | null = null; // kept when the change is made again
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
