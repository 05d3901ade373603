import { type Clock, systemClock } from '../../core/clock.js';
import type { StorageBackend } from '../../storage/ports.js';
import { LogPool } from '../log-pool.js';
import { isDigest, pathOfKey } from '../name-key.js';
import { plainObjects } from '../plain-json.js';
import type {
  FoldSessionSummary,
  SessionKey,
  SessionStoreEntry,
  SessionSummaryEntry,
} from './session-store-types.js';
import { type StoredTranscript, transcriptsIn } from './stored-transcripts.js';
import { eraseTranscripts, TranscriptLog } from './transcript-log.js';
import { folderOf, isOfSubagent, placeOf, projectFolder, subpathsFolder } from './transcript-place.js';

/** Options of `RekindleSessionStore`. */
export interface RekindleSessionStoreOptions {
  /** Any storage. It stays open when the store is closed. */
  readonly storage: StorageBackend;
  /** The first segment of the names of all transcripts. Default `claude-agent`. */
  readonly root?: string;
  /**
   * The function of that name of the SDK. With it, each append keeps the session's summary up to date, and the store has
   * `listSessionSummaries`. Without it, the SDK reads the sessions that it lists.
   */
  readonly foldSessionSummary?: FoldSessionSummary;
  readonly clock?: Clock;
}

/**
 * A `SessionStore` of the Claude Agent SDK (`@anthropic-ai/claude-agent-sdk`) on any storage: transcripts of sessions and
 * their subagents, which another machine can resume.
 *
 *     const sessionStore = new RekindleSessionStore({ storage, foldSessionSummary });
 *     for await (const message of query({ prompt: 'Hello', options: { sessionStore } })) show(message);
 *
 * One append is stored completely or not at all, and is durable when it resolves, within the storage's durability mode.
 * An entry whose `uuid` the transcript has already is not stored again, so a repeated append changes nothing. Several
 * processes may append to one session; the order is that of storage. Entries are JSON, and are given back equal. Keys are
 * any non-empty texts: what cannot be part of a name is stored under its digest.
 *
 * Calls reject with INVALID_ARGUMENT for a bad key, JOURNAL_CLOSED after `close`, JOURNAL_DAMAGED until a damaged
 * transcript is repaired, UNSUPPORTED_VERSION if a newer release wrote it, ERASURE_UNFINISHED while it is being erased,
 * and STORAGE_FAILED. Appends also reject with LEASE_HELD, STORAGE_FULL and JOURNAL_OUTCOME_UNKNOWN. All of them can be
 * repeated.
 */
export class RekindleSessionStore {
  readonly #backend: StorageBackend;
  readonly #root: string;
  readonly #logs: LogPool<TranscriptLog>;

  /**
   * The summaries of a project's sessions, in no particular order; only with the option `foldSessionSummary`. A session
   * whose last append had no fold is left out: the SDK reads it.
   */
  readonly listSessionSummaries?: (projectKey: string) => Promise<SessionSummaryEntry[]>;

  /** Reads nothing yet. */
  constructor(options: RekindleSessionStoreOptions) {
    const { storage, root = 'claude-agent', clock = systemClock, foldSessionSummary } = options;
    this.#backend = storage;
    this.#root = root;
    const fold = foldSessionSummary === undefined ? {} : { fold: foldSessionSummary };
    this.#logs = new LogPool({
      open: (id) => {
        const folded = isOfSubagent(id) ? {} : fold;
        return new TranscriptLog(storage, folderOf(root, id), { clock, ...folded });
      },
      owner: 'The session store',
    });
    if (foldSessionSummary) this.listSessionSummaries = (projectKey) => this.#summaries(projectKey);
  }

  /**
   * Appends entries in order, all or none, except those whose `uuid` is stored. Nothing for an empty list. @throws
   * INVALID_ARGUMENT for what is not JSON, or exceeds one record (64 MiB in total)
   */
  async append(key: SessionKey, entries: readonly SessionStoreEntry[]): Promise<void> {
    const place = placeOf(this.#root, key);
    const added = plainObjects(entries, 'entries');
    if (added.length === 0) return this.#logs.assertOpen();
    await this.#logs.use(place.id, (log) => log.append(place, added));
  }

  /** All entries of a transcript, oldest first; null if there is none. Copies. */
  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const loaded = await this.#logs.use(placeOf(this.#root, key).id, (log) => log.load());
    return loaded as SessionStoreEntry[] | null;
  }

  /**
   * The sessions of a project, in no particular order, with the time of their last append (milliseconds since 1970; 0 if
   * it cannot be read). Reads the last record of each. Sessions that have only transcripts of subagents are left out.
   */
  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const found: { sessionId: string; mtime: number }[] = [];
    for (const one of await this.#sessions(projectKey)) {
      const sessionId = sessionIdOf(one);
      if (sessionId !== null) found.push({ sessionId, mtime: one.last?.atMs ?? 0 });
    }
    return found;
  }

  /** The subpaths of a session that have entries, in no particular order. */
  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    const { projectKey, sessionId } = Object(key) as SessionKey;
    const { folder } = placeOf(this.#root, { projectKey, sessionId });
    this.#logs.assertOpen();
    const found = await transcriptsIn(this.#backend, subpathsFolder(folder));
    return found.flatMap(({ name, last }) => pathOfKey(name) ?? last?.hidden.subpath ?? []);
  }

  /**
   * Erases a transcript for good: no file of the store has bytes of it. Without a subpath, the transcripts of the session's
   * subagents too. Nothing if there is none. Works on a damaged transcript. After a crash, the same call continues.
   * @throws LEASE_HELD while another process writes it
   */
  async delete(key: SessionKey): Promise<void> {
    const place = placeOf(this.#root, key);
    await this.#logs.remove(place.id, () => eraseTranscripts(this.#backend, place));
  }

  async #summaries(projectKey: string): Promise<SessionSummaryEntry[]> {
    const found: SessionSummaryEntry[] = [];
    for (const one of await this.#sessions(projectKey)) {
      const sessionId = sessionIdOf(one);
      if (sessionId === null || !one.last?.summary) continue;
      found.push({ sessionId, mtime: one.last.atMs, data: one.last.summary });
    }
    return found;
  }

  async #sessions(projectKey: string): Promise<StoredTranscript[]> {
    const folder = projectFolder(this.#root, projectKey);
    this.#logs.assertOpen();
    return transcriptsIn(this.#backend, folder);
  }

  /** Waits for work in progress. The storage stays open. */
  close(): Promise<void> {
    return this.#logs.close();
  }
}

/** Null if only an unreadable record has it. */
function sessionIdOf({ name, last }: StoredTranscript): string | null {
  return isDigest(name) ? (last?.hidden.session ?? null) : name;
}
