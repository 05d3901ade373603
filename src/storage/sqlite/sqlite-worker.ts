/**
 * The SQLite thread: a sync may take long, and the program continues meanwhile. All calls that wait when a commit ends
 * form one batch, which shares the next commit.
 */
import { MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { releaseClosed } from './closed-connections.js';
import { loadSqliteDriver, type SqliteDriver } from './sqlite-driver.js';
import { sqliteError } from './sqlite-errors.js';
import { SqliteStore, type StoreAnswer, type StoreCall } from './sqlite-store.js';
import type { StorePlace, ThreadAnswer, ThreadCall } from './thread-messages.js';

const port = parentPort!;
const OF_THE_STORE: ReadonlySet<ThreadCall['operation']> = new Set([
  'changed',
  'scrub',
  'scrub-log',
  'close',
]);
const stores = new Map<number, SqliteStore>();
let driver: SqliteDriver | null = null;

port.on('message', (first: readonly ThreadCall[]) => {
  const calls = [...first];
  for (let more = takeNext(); more; more = takeNext()) {
    calls.push(...(more.message as readonly ThreadCall[]));
  }
  void answerAll(calls);
});

/** In Deno the port of a thread delivers messages only as events; there each message is a batch. */
function takeNext(): { readonly message: unknown } | undefined {
  return port instanceof MessagePort ? receiveMessageOnPort(port) : undefined;
}

async function answerAll(calls: readonly ThreadCall[]): Promise<void> {
  const answers: ThreadAnswer[] = [];
  try {
    driver ??= await loadSqliteDriver();
    for (const handle of new Set(calls.map(({ store }) => store.handle))) {
      const group = calls.filter(({ store }) => store.handle === handle);
      answers.push(...runGroup(driver, group));
    }
  } catch (thrown) {
    const { code, message, details } = sqliteError(thrown, 'open', calls[0]!.store.file);
    for (const { id } of calls) answers.push({ id, error: { code, message, details, unknown: false } });
  }
  await releaseClosed();
  port.postMessage(answers, buffersOf(answers));
  for (const store of stores.values()) store.checkpoint();
}

function runGroup(loaded: SqliteDriver, calls: readonly ThreadCall[]): ThreadAnswer[] {
  const store = storeOf(loaded, calls[0]!.store);
  const plain = calls.filter(({ operation }) => !OF_THE_STORE.has(operation));
  const results = store.run(plain as unknown as readonly StoreCall[]);
  const answers = plain.map(({ id }, index) => toMessage(id, results[index]!));
  for (const { id, operation } of calls) {
    if (operation === 'changed') answers.push(attempt(id, calls[0]!.store, () => store.changed()));
  }
  for (const { id, operation, store: place } of calls) {
    if (operation !== 'scrub' && operation !== 'scrub-log') continue;
    answers.push(
      attempt(id, place, () => {
        store.scrub(operation === 'scrub-log');
        return true;
      }),
    );
  }
  for (const { id, operation, store: place } of calls) {
    if (operation !== 'close') continue;
    answers.push(
      attempt(id, place, () => {
        store.close();
        return stores.delete(place.handle);
      }),
    );
  }
  return answers;
}

function storeOf(loaded: SqliteDriver, { handle, file, busyTimeoutMs }: StorePlace): SqliteStore {
  let store = stores.get(handle);
  if (!store) stores.set(handle, (store = new SqliteStore(loaded, file, busyTimeoutMs)));
  return store;
}

function attempt(id: number, { file }: StorePlace, run: () => boolean): ThreadAnswer {
  try {
    return { id, answer: run() };
  } catch (thrown) {
    return toMessage(id, { error: sqliteError(thrown, 'look at the database', file), unknown: false });
  }
}

function toMessage(id: number, result: StoreAnswer): ThreadAnswer {
  if ('answer' in result) return { id, answer: result.answer };
  const { code, message, details } = result.error;
  return { id, error: { code, message, details, unknown: result.unknown } };
}

/** The buffers are transferred instead of copied. Records of a page share one. */
function buffersOf(answers: readonly ThreadAnswer[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const add = (bytes: Uint8Array | null | undefined) => {
    if (bytes?.buffer instanceof ArrayBuffer && bytes.buffer.byteLength > 0) buffers.add(bytes.buffer);
  };
  for (const { answer } of answers) {
    if (answer === null || typeof answer !== 'object') continue;
    if ('bytes' in answer) add(answer.bytes);
    if ('records' in answer) for (const { body } of answer.records) add(body);
  }
  return [...buffers];
}
