/** The open threads of this process. */
import type { Name, StorageBackend } from '../../storage/ports.js';
import { LogPool } from '../log-pool.js';
import { removeThread, ThreadLog } from './thread-log.js';

export class ThreadPool extends LogPool<ThreadLog> {
  readonly #backend: StorageBackend;
  readonly #folder: Name;

  /** @param folder that contains the threads */
  constructor(backend: StorageBackend, folder: Name) {
    super({ open: (key) => new ThreadLog(backend, [...folder, key]), owner: 'The checkpoint saver' });
    this.#backend = backend;
    this.#folder = folder;
  }

  /** Keys of all threads with content, sorted. */
  async keys(): Promise<string[]> {
    this.assertOpen();
    return this.#backend.listNames(this.#folder);
  }

  /** @throws LEASE_HELD */
  removeThread(key: string, thread: string): Promise<void> {
    return this.remove(key, () => removeThread(this.#backend, [...this.#folder, key], thread));
  }
}
