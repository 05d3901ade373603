/** The sessions that are open in this process: the last ones that were used, each once. */
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { CheckpointSession, type CheckpointSessionOptions } from './checkpoint-session.js';

export interface SessionPoolOptions extends Omit<CheckpointSessionOptions, 'folder' | 'session'> {
  readonly folder: Name;
}

/** Open at once; more than that only while all of them are at work. */
const OPEN_MAX = 100;
/** What other sessions take is looked up again after so long, and after so many times what it took to look. */
const SIZES_MS = 5_000;
const SIZES_FACTOR = 50;

interface Opened {
  readonly session: CheckpointSession;
  users: number;
}

export class SessionPool {
  readonly #options: SessionPoolOptions;
  /** The one that was used last comes last. */
  readonly #opened = new Map<string, Opened>();
  #sizes: { readonly bySession: Map<string, number>; readonly untilMs: number } | null = null;

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
  names(): Promise<string[]> {
    return this.#options.backend.listNames([...this.#options.folder, 'sessions']);
  }

  /** @throws INVALID_NAME, and what the work throws */
  async use<T>(id: string, work: (session: CheckpointSession) => Promise<T>): Promise<T> {
    encodeNameSegment(id);
    const opened = this.#opened.get(id) ?? { session: this.#open(id), users: 0 };
    this.#opened.delete(id);
    this.#opened.set(id, opened);
    opened.users += 1;
    try {
      return await work(opened.session);
    } finally {
      opened.users -= 1;
      await this.#closeIdle();
    }
  }

  #open(session: string): CheckpointSession {
    return new CheckpointSession({ ...this.#options, folder: this.folderOf(session), session });
  }

  async #closeIdle(): Promise<void> {
    for (const [id, { session, users }] of this.#opened) {
      if (this.#opened.size <= OPEN_MAX) return;
      if (users > 0) continue;
      this.#opened.delete(id);
      await session.close();
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
    if (!this.#sizes || performance.now() > this.#sizes.untilMs) this.#sizes = await this.#look();
    let bytes = 0;
    for (const [name, size] of this.#sizes.bySession) if (name !== id) bytes += size;
    return bytes;
  }

  /** What a session takes now. */
  noteSize(id: string, bytes: number): void {
    this.#sizes?.bySession.set(id, bytes);
  }

  async #look() {
    const start = performance.now();
    const bySession = new Map<string, number>();
    for (const name of await this.names()) bySession.set(name, await this.#storedBytes(name));
    const end = performance.now();
    return { bySession, untilMs: end + Math.max(SIZES_MS, SIZES_FACTOR * (end - start)) };
  }

  /** As its last record says. */
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
    const opened = [...this.#opened.values()];
    this.#opened.clear();
    const ended = await Promise.allSettled(opened.map(({ session }) => session.close()));
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
