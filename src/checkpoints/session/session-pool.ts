/** The open sessions of this process: the most recently used ones, each opened once. */
import { messageOf, RekindleError } from '../../core/errors.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { CheckpointSession, type CheckpointSessionOptions } from './checkpoint-session.js';

export interface SessionPoolOptions
  extends Omit<CheckpointSessionOptions, 'folder' | 'session' | 'othersAreEncrypted'> {
  readonly folder: Name;
}

/** Maximum of open sessions; exceeded only while all of them are in use. */
const OPEN_MAX = 100;
/** Sizes of other sessions are looked up again after this time, or after a multiple of the look-up time. */
const SIZES_MS = 5_000;
const SIZES_FACTOR = 50;

/** A session that cannot be read. */
export interface SessionProblem {
  readonly sessionId: string;
  readonly message: string;
}

interface Sizes {
  readonly bySession: Map<string, number>;
  readonly untilMs: number;
}

interface Opened {
  readonly session: CheckpointSession;
  users: number;
}

export class SessionPool {
  readonly #options: SessionPoolOptions;
  /** Least recently used first. */
  readonly #opened = new Map<string, Opened>();
  #sizes: Promise<Sizes> | null = null;
  #sizesUntilMs = 0;
  readonly #working = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(options: SessionPoolOptions) {
    this.#options = options;
  }

  get backend(): StorageBackend {
    return this.#options.backend;
  }

  folderOf(id: string): Name {
    return [...this.#options.folder, 'sessions', id];
  }

  /** Sorted. */
  async names(): Promise<string[]> {
    if (this.#isClosed) throw checkpointsClosed();
    return this.#options.backend.listNames([...this.#options.folder, 'sessions']);
  }

  /** @throws INVALID_NAME, and what the work throws */
  async use<T>(id: string, work: (session: CheckpointSession) => Promise<T>): Promise<T> {
    encodeNameSegment(id);
    if (this.#isClosed) throw checkpointsClosed();
    const opened = this.#opened.get(id) ?? { session: this.#open(id), users: 0 };
    this.#opened.delete(id);
    this.#opened.set(id, opened);
    opened.users += 1;
    const working = work(opened.session);
    this.#working.add(working);
    try {
      return await working;
    } finally {
      this.#working.delete(working);
      opened.users -= 1;
      this.#closeIdle();
    }
  }

  /** Calls `work` for every session, one after the other. An unreadable session does not stop the others. */
  async each(work: (id: string) => Promise<unknown>): Promise<SessionProblem[]> {
    const problems: SessionProblem[] = [];
    for (const sessionId of await this.names()) {
      try {
        await work(sessionId);
      } catch (thrown) {
        if (this.#isClosed) throw thrown;
        problems.push({ sessionId, message: messageOf(thrown) });
      }
    }
    return problems;
  }

  #open(session: string): CheckpointSession {
    const othersAreEncrypted = () => this.hasKeys();
    const own = { folder: this.folderOf(session), session, othersAreEncrypted };
    return new CheckpointSession({ ...this.#options, ...own });
  }

  /** Closes an idle session and its lock. */
  async release(id: string): Promise<void> {
    const opened = this.#opened.get(id);
    if (!opened || opened.users > 0) return;
    this.#opened.delete(id);
    await opened.session.close();
  }

  /** Their saves are durable, so closing may be slow or fail. */
  #closeIdle(): void {
    for (const [id, { session, users }] of this.#opened) {
      if (this.#opened.size <= OPEN_MAX) return;
      if (users > 0) continue;
      this.#opened.delete(id);
      void session.close().catch(() => {});
    }
  }

  /** Whether any session is encrypted. */
  async hasKeys(): Promise<boolean> {
    const { documents } = this.#options.backend;
    for (const name of await this.names())
      if ((await documents.readBytes([...this.folderOf(name), 'keys.json'])) !== null) return true;
    return false;
  }

  /** Known bytes of all other sessions. Saves by other processes in the last seconds may be missing. */
  async bytesOfOthers(id: string): Promise<number> {
    const { bySession } = await this.#known();
    let bytes = 0;
    for (const [name, size] of bySession) if (name !== id) bytes += size;
    return bytes;
  }

  /** Forces a new look-up: others may have made room. */
  forgetSizes(): void {
    this.#sizesUntilMs = 0;
  }

  /** Records the current size of a session. */
  noteSize(id: string, bytes: number): void {
    this.#sizes?.then(
      ({ bySession }) => bySession.set(id, bytes),
      () => {}, // they will be looked up anew
    );
  }

  /** Concurrent callers share one look-up. */
  #known(): Promise<Sizes> {
    if (this.#sizes && performance.now() <= this.#sizesUntilMs) return this.#sizes;
    this.#sizesUntilMs = Number.POSITIVE_INFINITY;
    const looking = this.#look();
    this.#sizes = looking;
    looking.then(
      ({ untilMs }) => (this.#sizesUntilMs = untilMs),
      () => (this.#sizes = null), // the next one tries again
    );
    return looking;
  }

  async #look(): Promise<Sizes> {
    const start = performance.now();
    const bySession = new Map<string, number>();
    for (const name of await this.names()) bySession.set(name, await this.#storedBytes(name).catch(() => 0));
    const end = performance.now();
    return { bySession, untilMs: end + Math.max(SIZES_MS, SIZES_FACTOR * (end - start)) };
  }

  /** From the session's last record. An unreadable session must not prevent saves in others. */
  async #storedBytes(id: string): Promise<number> {
    const name = [...this.folderOf(id), 'checkpoints'];
    const journal = await this.#options.backend.openJournal(name, { readOnly: true });
    try {
      for await (const entry of journal.readBackward()) {
        const stored = entry.kind === 'record' ? entry.record['stored'] : undefined;
        if (typeof stored === 'number') return stored;
      }
      return 0;
    } finally {
      await journal.close();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#working);
    const opened = [...this.#opened.values()];
    this.#opened.clear();
    const ended = await Promise.allSettled(opened.map(({ session }) => session.close()));
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}

export function checkpointsClosed(): RekindleError {
  return new RekindleError('JOURNAL_CLOSED', 'The checkpoints were closed.', { details: {} });
}
