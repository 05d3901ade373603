/** The open logs of this process: the most recently used ones, each opened once. */
import { RekindleError } from '../core/errors.js';

/** Maximum of open logs; exceeded only while all of them are in use. */
const OPEN_MAX = 100;

/** A journal of an adapter, and the state after its records. */
export interface OpenLog {
  close(): Promise<void>;
}

export interface LogPoolOptions<L extends OpenLog> {
  /** Reads and writes nothing yet. */
  readonly open: (key: string) => L;
  /** What a caller closed: begins the text of JOURNAL_CLOSED. */
  readonly owner: string;
}

interface Opened<L> {
  readonly log: L;
  readonly working: Set<Promise<unknown>>;
}

/** A key may have `/`: then it is below another one, and is removed with it. */
export class LogPool<L extends OpenLog> {
  readonly #options: LogPoolOptions<L>;
  /** Least recently used first. */
  readonly #opened = new Map<string, Opened<L>>();
  readonly #removing = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(options: LogPoolOptions<L>) {
    this.#options = options;
  }

  /**
   * Starts work in the order of the calls. Waits for nothing first, unless the log is being removed.
   * @throws JOURNAL_CLOSED, and what the work throws
   */
  use<T>(key: string, work: (log: L) => Promise<T>): Promise<T> {
    return this.useAll([key], ([log]) => work(log!));
  }

  /** As `use`, for several logs at once, so that no two calls wait for each other. */
  async useAll<T>(keys: readonly string[], work: (logs: readonly L[]) => Promise<T>): Promise<T> {
    const isAffected = (removed: string) => keys.some((key) => isWithin(key, removed));
    for (let running = this.#removals(isAffected); running.length > 0; running = this.#removals(isAffected))
      await Promise.allSettled(running); // reported to the caller of `remove`
    this.assertOpen();
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

  #removals(isAffected: (removed: string) => boolean): Promise<void>[] {
    return [...this.#removing].flatMap(([key, removing]) => (isAffected(key) ? [removing] : []));
  }

  /**
   * Closes a log and those below it when the work on them has ended, then erases them. Later work waits and starts with
   * an empty log. @throws what `erase` throws
   */
  async remove(key: string, erase: () => Promise<void>): Promise<void> {
    const isAffected = (other: string) => isWithin(key, other) || isWithin(other, key);
    for (let running = this.#removals(isAffected); running.length > 0; running = this.#removals(isAffected))
      await Promise.allSettled(running);
    this.assertOpen();
    const removing = this.#remove(key, erase);
    this.#removing.set(key, removing);
    try {
      await removing;
    } finally {
      this.#removing.delete(key);
    }
  }

  async #remove(key: string, erase: () => Promise<void>): Promise<void> {
    const opened = [...this.#opened].filter(([other]) => isWithin(other, key));
    for (const [other] of opened) this.#opened.delete(other);
    await Promise.allSettled(opened.flatMap(([, { working }]) => [...working]));
    for (const [, { log }] of opened) await log.close();
    await erase();
  }

  #open(key: string): Opened<L> {
    return { log: this.#options.open(key), working: new Set() };
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

  /** @throws JOURNAL_CLOSED */
  assertOpen(): void {
    if (!this.#isClosed) return;
    throw new RekindleError('JOURNAL_CLOSED', `${this.#options.owner} was closed.`, { details: {} });
  }
}

function isWithin(key: string, other: string): boolean {
  return key === other || key.startsWith(`${other}/`);
}
