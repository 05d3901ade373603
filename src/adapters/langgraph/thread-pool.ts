/** The open threads of this process: the most recently used ones, each opened once. */
import { RekindleError } from '../../core/errors.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { removeThread, ThreadLog } from './thread-log.js';

/** Maximum of open threads; exceeded only while all of them are in use. */
const OPEN_MAX = 100;

interface Opened {
  readonly log: ThreadLog;
  readonly working: Set<Promise<unknown>>;
}

export class ThreadPool {
  readonly #backend: StorageBackend;
  readonly #folder: Name;
  /** Least recently used first. */
  readonly #opened = new Map<string, Opened>();
  readonly #removing = new Map<string, Promise<void>>();
  #isClosed = false;

  /** @param folder that contains the threads */
  constructor(backend: StorageBackend, folder: Name) {
    this.#backend = backend;
    this.#folder = folder;
  }

  /** Keys of all threads with content, sorted. */
  async keys(): Promise<string[]> {
    this.#assertOpen();
    return this.#backend.listNames(this.#folder);
  }

  /**
   * Starts work in the order of the calls. Waits for nothing first, unless the thread is being removed.
   * @throws JOURNAL_CLOSED, and what the work throws
   */
  use<T>(key: string, work: (log: ThreadLog) => Promise<T>): Promise<T> {
    return this.useAll([key], ([log]) => work(log!));
  }

  /** As `use`, for several threads at once, so that no two calls wait for each other. */
  async useAll<T>(keys: readonly string[], work: (logs: readonly ThreadLog[]) => Promise<T>): Promise<T> {
    for (let removing = this.#removed(keys); removing.length > 0; removing = this.#removed(keys))
      await Promise.allSettled(removing); // reported to the caller of `remove`
    this.#assertOpen();
    const opened = keys.map((key) => this.#opened.get(key) ?? this.#open(key));
    for (const [index, key] of keys.entries()) {
      this.#opened.delete(key);
      this.#opened.set(key, opened[index]!);
    }
    const working = work(opened.map(({ log }) => log));
    for (const one of opened) one.working.add(working);
    try {
      return await working;
    } finally {
      for (const one of opened) one.working.delete(working);
      this.#closeIdle();
    }
  }

  #removed(keys: readonly string[]): Promise<void>[] {
    return keys.flatMap((key) => this.#removing.get(key) ?? []);
  }

  /**
   * Removes a thread when the work on it has ended. Later work waits and starts with an empty thread. @throws
   * LEASE_HELD
   */
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

  /** Their changes are durable, so closing may be slow or fail. */
  #closeIdle(): void {
    for (const [key, { log, working }] of this.#opened) {
      if (this.#opened.size <= OPEN_MAX) return;
      if (working.size > 0) continue;
      this.#opened.delete(key);
      void log.close().catch(() => {});
    }
  }

  /** Waits for work in progress. */
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
