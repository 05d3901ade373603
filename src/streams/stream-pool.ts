/** The open streams of this process: the most recently used ones, each opened once. */
import type { Clock } from '../core/clock.js';
import { RekindleError } from '../core/errors.js';
import type { StorageBackend } from '../storage/ports.js';
import { ReadTimes } from './read-times.js';
import { StreamLog } from './stream-log.js';
import { folderOf } from './stream-name.js';

/** Maximum of open streams; exceeded only while all of them are in use. */
const OPEN_MAX = 100;

export interface OpenStream {
  readonly path: string;
  readonly log: StreamLog;
  readonly times: ReadTimes;
}

interface Opened {
  readonly stream: OpenStream;
  users: number;
}

export class StreamPool {
  readonly #backend: StorageBackend;
  readonly #clock: Clock;
  /** Least recently used first. */
  readonly #opened = new Map<string, Opened>();
  readonly #working = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(backend: StorageBackend, clock: Clock) {
    this.#backend = backend;
    this.#clock = clock;
  }

  /** Works on a stream, which need not exist. @throws INVALID_NAME, JOURNAL_CLOSED, and what the work throws */
  async use<T>(path: string, work: (stream: OpenStream) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new RekindleError('JOURNAL_CLOSED', 'The streams were closed.');
    const opened = this.#opened.get(path) ?? this.#open(path);
    this.#opened.delete(path);
    this.#opened.set(path, opened);
    opened.users += 1;
    const working = work(opened.stream);
    this.#working.add(working);
    try {
      return await working;
    } finally {
      opened.users -= 1;
      this.#working.delete(working);
      this.#closeIdle();
    }
  }

  #open(path: string): Opened {
    const folder = folderOf(path);
    const log = new StreamLog(this.#backend, folder, this.#clock);
    const times = new ReadTimes(this.#backend, folder, this.#clock);
    return { stream: { path, log, times }, users: 0 };
  }

  /** Their changes are durable, so closing may be slow or fail. */
  #closeIdle(): void {
    for (const [path, { stream, users }] of this.#opened) {
      if (this.#opened.size <= OPEN_MAX) return;
      if (users > 0) continue;
      this.#opened.delete(path);
      void stream.log.close().catch(() => {});
    }
  }

  /** Waits for work in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#working);
    const logs = [...this.#opened.values()].map(({ stream }) => stream.log);
    this.#opened.clear();
    const ended = await Promise.allSettled(logs.map((log) => log.close()));
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
