/**
 * The append queue that every journal backend shares: appends wait in a queue, and one commit takes all that wait.
 *
 * Records are encoded when `append` is called. So an invalid record is rejected before anything is written, and later
 * changes to the caller's object have no effect.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRekindleError, RekindleError } from '../core/errors.js';
import { COMMIT_BYTES_MAX } from '../core/limits.js';
import type { AppendOptions, AppendResult } from './ports.js';

export interface Waiting<E> {
  readonly records: readonly E[];
  readonly bytes: number;
  readonly options: AppendOptions;
  resolve(result: AppendResult): void;
  reject(thrown: unknown): void;
}

export interface AppendQueueOptions<E> {
  /** Sequence number of the last acknowledged record. */
  readonly headSeq: () => number;
  /** Makes all of them durable, in order, with one result each. Rejects if none was kept. */
  readonly commit: (batch: readonly Waiting<E>[]) => Promise<readonly AppendResult[]>;
  /** Milliseconds to gather appends before a commit. 0: only those that came while the last commit ran. */
  readonly gatherMs: number;
}

export class AppendQueue<E> {
  readonly #options: AppendQueueOptions<E>;
  #waiting: Waiting<E>[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(options: AppendQueueOptions<E>) {
    this.#options = options;
  }

  push(records: readonly E[], bytes: number, options: AppendOptions): Promise<AppendResult> {
    if (this.#closed) return Promise.reject(journalClosed());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records, bytes, options, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Runs `run` between commits, while no append is in progress. */
  async exclusive<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closed) throw journalClosed();
    while (this.#running) await this.#running;
    const result = run();
    this.#running = result.then(
      () => this.#next(),
      () => this.#next(),
    );
    return result;
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.#running) await this.#running;
  }

  #next(): void {
    this.#running = this.#waiting.length > 0 ? this.#run() : null;
  }

  async #run(): Promise<void> {
    if (this.#options.gatherMs > 0) await sleep(this.#options.gatherMs);
    else await Promise.resolve(); // appends of the same tick share the commit
    const batch = this.#take();
    if (batch.length > 0) {
      try {
        const results = await this.#options.commit(batch);
        for (const [index, waiting] of batch.entries()) waiting.resolve(results[index]!);
      } catch (thrown) {
        for (const waiting of batch) waiting.reject(thrown);
      }
    }
    this.#next();
  }

  /** The appends of the next commit. Rejects those whose `expectedSeq` is not the head. */
  #take(): Waiting<E>[] {
    const batch: Waiting<E>[] = [];
    let seq = this.#options.headSeq();
    let bytes = 0;
    let index = 0;
    for (; index < this.#waiting.length && bytes < COMMIT_BYTES_MAX; index += 1) {
      const waiting = this.#waiting[index]!;
      const { expectedSeq } = waiting.options;
      if (expectedSeq !== undefined && expectedSeq !== seq) {
        waiting.reject(conflict(expectedSeq, seq));
        continue;
      }
      batch.push(waiting);
      seq += waiting.records.length;
      bytes += waiting.bytes;
    }
    this.#waiting = this.#waiting.slice(index);
    return batch;
  }
}

export function journalClosed(): RekindleError {
  return new RekindleError('JOURNAL_CLOSED', 'The journal is closed.');
}

export function conflict(expectedSeq: number, seq: number): RekindleError {
  return new RekindleError(
    'JOURNAL_CONFLICT',
    `Expected the journal at ${expectedSeq}, but it is at ${seq}.`,
    {
      details: { expectedSeq, seq },
    },
  );
}

/** True for errors after which the process must stop writing. */
export function isFenced(thrown: unknown): boolean {
  return isRekindleError(thrown, 'LEASE_LOST');
}
