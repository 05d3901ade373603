/** The threads that are open in this process: the last ones that were used, each once. */
import { RekindleError } from '../../core/errors.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { removeThread, ThreadLog } from './thread-log.js';

/** Open at once; more than that only while all of them are at work. */
const OPEN_MAX = 100;

interface Opened {
  readonly log: ThreadLog;
  readonly working: Set<Promise<unknown>>;
}

export class ThreadPool {
  readonly #backend: StorageBackend;
  readonly #folder: Name;
  /** The one that was used last comes last. */
  readonly #opened = new Map<string, Opened>();
  readonly #removing = new Map<string, Promise<void>>();
  #isClosed = false;

  /** @param folder what has the threads in it */
  constructor(backend: StorageBackend, folder: Name) {
    this.#backend = backend;
    this.#folder = folder;
  }

  /** Of every thread that holds anything, sorted. */
  async keys(): Promise<string[]> {
    this.#assertOpen();
    return this.#backend.listNames(this.#folder);
  }

  /** In the order of the calls: nothing is waited for before the work begins, unless the thread is being removed. @throws JOURNAL_CLOSED, and what the work throws */
  async use<T>(key: string, work: (log: ThreadLog) => Promise<T>): Promise<T> {
    while (this.#removing.has(key)) await this.#removing.get(key)?.catch(() => {}); // told to who asked for it
    this.#assertOpen();
    const opened = this.#opened.get(key) ?? this.#open(key);
    this.#opened.delete(key);
    this.#opened.set(key, opened);
    const working = work(opened.log);
    opened.working.add(working);
    try {
      return await working;
    } finally {
      opened.working.delete(working);
      this.#closeIdle();
    }
  }

  /** Takes a thread away, when the work on it has ended; what is asked for later waits, and begins anew. @throws LEASE_HELD */
  async remove(key: string, thread: string): Promise<void> {
    while (this.#removing.has(key)) await this.#removing.get(key)?.catch(() => {});
    this.#assertOpen();
    const removing = this.#remove(key, thread);
    this.#removing.set(key, removing);
    try {
      await removing;
    } finally {
      this.#removing.delete(key);
    }
  }

  async #remove(key: string, thread: string): Promise<void> {
    const opened = this.#opened.get(key);
    this.#opened.delete(key);
    await Promise.allSettled(opened?.working ?? []);
    await opened?.log.close();
    await removeThread(this.#backend, this.#folderOf(key), thread);
  }

  #open(key: string): Opened {
    return { log: new ThreadLog(this.#backend, this.#folderOf(key)), working: new Set() };
  }

  #folderOf(key: string): Name {
    return [...this.#folder, key];
  }

  /** What they acknowledged is durable: closing them may take its time, and fail. */
  #closeIdle(): void {
    for (const [key, { log, working }] of this.#opened) {
      if (this.#opened.size <= OPEN_MAX) return;
      if (working.size > 0) continue;
      this.#opened.delete(key);
      void log.close().catch(() => {});
    }
  }

  /** Lets work under way finish. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#removing.values());
    const opened = [...this.#opened.values()];
    this.#opened.clear();
    await Promise.allSettled(opened.flatMap(({ working }) => [...working]));
    const ended = await Promise.allSettled(opened.map(({ log }) => log.close()));
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  #assertOpen(): void {
    if (!this.#isClosed) return;
    throw new RekindleError('JOURNAL_CLOSED', 'The checkpoint saver was closed.', { details: {} });
  }
}
