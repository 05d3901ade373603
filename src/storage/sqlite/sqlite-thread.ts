/** The one SQLite thread of this process. It starts on first use, and does not keep an otherwise idle process alive. */
// biome-ignore lint/style/useNodejsImportProtocol: webpack knows a thread by this name only, and bundles it.
import { Worker } from 'worker_threads';
import { messageOf, RekindleError } from '../../core/errors.js';
import type { StorePlace, ThreadAnswer, ThreadCall } from './thread-messages.js';

type Answer = ThreadAnswer['answer'];

interface Waiting {
  readonly operation: ThreadCall['operation'];
  resolve(answer: Answer): void;
  reject(thrown: unknown): void;
}

class SqliteThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #outbox: ThreadCall[] = [];
  #lastId = 0;

  /** Calls of one tick are sent together. */
  call(
    store: StorePlace,
    operation: ThreadCall['operation'],
    request: ThreadCall['request'],
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { operation, resolve, reject });
      if (this.#outbox.push({ id, store, operation, request }) === 1) queueMicrotask(() => this.#send());
    });
  }

  #send(): void {
    const calls = this.#outbox;
    this.#outbox = [];
    try {
      const worker = (this.#worker ??= this.#start());
      worker.ref();
      worker.postMessage(calls);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #start(): Worker {
    // Bundlers find the thread's file by this expression. The program's options, such as `--input-type`, do not apply
    // to the thread.
    const worker = new Worker(new URL('./sqlite-worker.js', import.meta.url), { execArgv: [] });
    worker.on('message', (answers: readonly ThreadAnswer[]) => {
      for (const answer of answers) this.#settle(answer);
      if (this.#waiting.size === 0) worker.unref();
    });
    const ended = (thrown: unknown) => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#fail(thrown);
    };
    worker.on('error', ended);
    worker.on('exit', (code) => ended(new RekindleError('STORAGE_FAILED', `exit code ${code}`)));
    return worker;
  }

  #settle({ id, answer, error }: ThreadAnswer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (!error) waiting?.resolve(answer);
    else waiting?.reject(toError(waiting.operation, error));
  }

  /** The thread ended: the outcome of pending commits is unknown. */
  #fail(thrown: unknown): void {
    for (const { operation, reject } of this.#waiting.values()) {
      const message = `The SQLite thread ended: ${messageOf(thrown)}`;
      reject(toError(operation, { code: 'STORAGE_FAILED', message, details: {}, unknown: true }));
    }
    this.#waiting.clear();
  }
}

function toError(
  operation: ThreadCall['operation'],
  { code, message, details, unknown }: NonNullable<ThreadAnswer['error']>,
): RekindleError {
  if (!unknown || operation !== 'append') return new RekindleError(code, message, { details });
  return new RekindleError('JOURNAL_OUTCOME_UNKNOWN', message, { details });
}

export const sqliteThread = new SqliteThread();
