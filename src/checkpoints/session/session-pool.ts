/** The sessions that are open in this process: the last ones that were used, each once. */
import { messageOf, RekindleError } from '../../core/errors.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { CheckpointSession, type CheckpointSessionOptions } from './checkpoint-session.js';

export interface SessionPoolOptions
  extends Omit<CheckpointSessionOptions, 'folder' | 'session' | 'othersAreEncrypted'> {
  readonly folder: Name;
}

/** Open at once; more than that only while all of them are at work. */
const OPEN_MAX = 100;
/** What other sessions take is looked up again after so long, and after so many times what it took to look. */
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
  /** The one that was used last comes last. */
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

  /** Every session, one after the other; one that cannot be read does not keep the others. */
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

  /** Closes a session that is not at work, and with it its lock. */
  async release(id: string): Promise<void> {
    const opened = this.#opened.get(id);
    if (!opened || opened.users > 0) return;
    this.#opened.delete(id);
    await opened.session.close();
  }

  /** What they acknowledged is durable: closing them may take its time, and fail. */
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

  /** Bytes that all sessions but this one take, as far as it is known: what other processes saved in the last seconds may be missing. */
  async bytesOfOthers(id: string): Promise<number> {
    const { bySession } = await this.#known();
    let bytes = 0;
    for (const [name, size] of bySession) if (name !== id) bytes += size;
    return bytes;
  }

  /** What is known is looked up anew: others may have made room. */
  forgetSizes(): void {
    this.#sizesUntilMs = 0;
  }

  /** What a session takes now. */
  noteSize(id: string, bytes: number): void {
    this.#sizes?.then(
      ({ bySession }) => bySession.set(id, bytes),
      () => {}, // they will be looked up anew
    );
  }

  /** Looked up by one for all who ask meanwhile. */
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

  /** As its last record says. One that cannot be read must not keep others from saving. */
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
