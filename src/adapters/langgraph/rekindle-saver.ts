import { isDeepStrictEqual } from 'node:util';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
  type SerializerProtocol,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { StorageBackend } from '../../storage/ports.js';
import { nameKey } from '../name-key.js';
import { BigIntSerializer } from './bigint-serializer.js';
import {
  checkpointIdOf,
  configOf,
  listedNamespace,
  namespaceOf,
  type RunnableConfig,
  requiredCheckpointId,
  requiredThreadId,
  threadIdOf,
} from './checkpoint-config.js';
import { CheckpointDraft } from './checkpoint-draft.js';
import { readTuple } from './checkpoint-tuple.js';
import { contentWithoutRuns, type KeptContent, type LoadMetadata, newestContent } from './kept-content.js';
import { ValueStore } from './stored-value.js';
import { type CheckpointEntry, isFinal, type ThreadContents } from './thread-contents.js';
import { copyContent } from './thread-copy.js';
import type { ThreadIndex } from './thread-index.js';
import type { ThreadLog } from './thread-log.js';
import { ThreadPool } from './thread-pool.js';
import type { WriteRow } from './thread-record.js';
import { replaceContent } from './thread-replacement.js';

/** Options of `RekindleSaver`. */
export interface RekindleSaverOptions {
  /** Any storage. It stays open when the saver is closed. */
  readonly storage: StorageBackend;
  /** Default: LangGraph's own, extended by `BigInt`. */
  readonly serde?: SerializerProtocol;
  /** The folder in the storage. Default `langgraph`. */
  readonly root?: string;
}

interface Listed {
  readonly threadId: string;
  readonly entry: CheckpointEntry;
}

/**
 * A LangGraph checkpointer over any `StorageBackend`.
 *
 *     const graph = builder.compile({ checkpointer: new RekindleSaver({ storage }) });
 *
 * Each thread is one journal, which several processes may write; a change by one is visible to the next call
 * of the others. A channel is stored only when its version changes. A value that begins like an earlier one
 * is stored as a delta; large values are blobs. Values and metadata pass the serializer. Ids, channel and
 * node names, and versions do not, so an encrypting serializer leaves them readable.
 *
 * A call's changes are durable when it resolves, within the store's durability mode. Errors are
 * `RekindleError`s, except errors of a serializer while reading.
 */
export class RekindleSaver extends BaseCheckpointSaver {
  readonly #threads: ThreadPool;
  readonly #storage: StorageBackend;

  /** @throws INVALID_NAME if the root cannot be a folder name */
  constructor(options: RekindleSaverOptions) {
    super(options.serde ?? new BigIntSerializer());
    const { storage, root = 'langgraph' } = options;
    encodeNameSegment(root);
    this.#threads = new ThreadPool(storage, [root, 'threads']);
    this.#storage = storage;
  }

  /**
   * The checkpoint that the config names, or the newest of its namespace (default: the root's); undefined if
   * there is none.
   * @throws INVALID_ARGUMENT, JOURNAL_DAMAGED, BLOB_DAMAGED, UNSUPPORTED_VERSION, JOURNAL_CLOSED,
   * STORAGE_FAILED
   */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const threadId = threadIdOf(config);
    if (threadId === undefined) return undefined;
    return this.#tuple(threadId, namespaceOf(config), checkpointIdOf(config));
  }

  /**
   * Checkpoints of one thread or all, of one namespace or all, newest first by id. `filter` compares metadata
   * by deep equality; `before` names a checkpoint that all results must precede. Checkpoints deleted
   * meanwhile are left out. @throws as `getTuple`
   */
  override async *list(
    config: RunnableConfig,
    { limit, before, filter }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const listed = await this.#listed(config, before && checkpointIdOf(before));
    let left = limit ?? Number.POSITIVE_INFINITY;
    for (const { threadId, entry } of listed) {
      if (left <= 0) return;
      if (filter && !(await this.#matches(threadId, entry, filter))) continue;
      const tuple = await this.#tuple(threadId, entry.ns, entry.id);
      if (!tuple) continue;
      left -= 1;
      yield tuple;
    }
  }

  /**
   * Stores a checkpoint, whose parent is the one that the config names. Stores the channels in `newVersions`;
   * the values of the others are known. Replaces a checkpoint with the same id.
   * @returns the config that names it
   * @throws INVALID_ARGUMENT (nothing was written), LEASE_HELD, STORAGE_FULL, STORAGE_FAILED,
   * JOURNAL_OUTCOME_UNKNOWN, and as `getTuple`
   */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const [threadId, ns] = [requiredThreadId(config), namespaceOf(config)];
    const { id } = checkpoint;
    const given = { ns, parent: checkpointIdOf(config), checkpoint, metadata, newVersions };
    const drafting = CheckpointDraft.of(this.#values, given);
    await this.#inOrder(threadId, drafting, (log, draft) =>
      log.append(threadId, (index) => draft.addition({ log, index })),
    );
    return configOf(threadId, ns, id);
  }

  /**
   * Stores a task's writes after a checkpoint. The first write of a task at an index is kept; special writes
   * (errors, interrupts) are replaced. @param taskPath the task's place in the graph, which orders the writes
   * @throws as `put`
   */
  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    const [threadId, ns] = [requiredThreadId(config), namespaceOf(config)];
    const checkpoint = requiredCheckpointId(config);
    assertText('taskId', taskId);
    assertText('taskPath', taskPath);
    const dumping = Promise.all(writes.map((write, position) => this.#dumpWrite(write, position)));
    await this.#inOrder(threadId, dumping, (log, dumped) =>
      log.append(threadId, async (index) => {
        const rows: WriteRow[] = [];
        for (const { idx, channel, value } of dumped) {
          if (isFinal(idx) && index.contents.hasWrite(ns, checkpoint, taskId, idx)) continue;
          rows.push([idx, channel, await this.#values.keep(value, log.blobs)]);
        }
        if (rows.length === 0) return null;
        return { record: { type: 'writes', ns, checkpoint, task: taskId, path: taskPath, writes: rows } };
      }),
    );
  }

  /**
   * Erases all checkpoints and writes of a thread. After a crash, call it again to continue. @throws
   * INVALID_ARGUMENT, LEASE_HELD, STORAGE_FAILED, JOURNAL_CLOSED
   */
  override async deleteThread(threadId: string): Promise<void> {
    assertText('threadId', threadId);
    await this.#threads.removeThread(nameKey(threadId), threadId);
  }

  /**
   * Copies all checkpoints and writes of a thread to a new one, with their ids. Both are independent afterwards. A source
   * without checkpoints and writes copies nothing. After a crash there is no target, or the whole one; call it again to
   * be sure.
   * @throws SESSION_EXISTS if the target has checkpoints or writes, unless it is a copy of the source as it is now, which
   * nobody changed; and as `put`
   */
  async copyThread(sourceThreadId: string, targetThreadId: string): Promise<void> {
    assertText('sourceThreadId', sourceThreadId);
    assertText('targetThreadId', targetThreadId);
    if (sourceThreadId === targetThreadId)
      throw refused('targetThreadId', 'a thread cannot be copied to itself');
    const threads = { source: sourceThreadId, target: targetThreadId };
    await this.#threads.useAll([nameKey(sourceThreadId), nameKey(targetThreadId)], ([source, target]) =>
      copyContent(threads, { source: source!, target: target! }, this.#values),
    );
    await this.#storage.scrub({ quick: true });
  }

  /**
   * Erases the checkpoints of some runs (`run_id` of their metadata) with their writes, in all threads and namespaces.
   * Other checkpoints stay exact. Checkpoints from which a delta channel of another one is rebuilt stay, too. Reads the
   * metadata of all threads. After a failure, also in one thread, call it again to continue. @throws as `put`
   */
  async deleteForRuns(runIds: readonly string[]): Promise<void> {
    assertTexts('runIds', runIds);
    const runs = new Set(runIds);
    if (runs.size === 0) return;
    const erase = (key: string) =>
      this.#keep(key, (contents, load) => contentWithoutRuns(contents, runs, load));
    await forEach(await this.#threads.keys(), erase);
    await this.#storage.scrub({ quick: true });
  }

  /**
   * Of each thread: `keep_latest` keeps the newest checkpoint of each namespace with its writes, and the ancestors from
   * which a delta channel of it is rebuilt. `delete` deletes the thread. After a failure, call it again to continue.
   * @throws as `put`
   */
  async prune(
    threadIds: readonly string[],
    { strategy = 'keep_latest' }: { readonly strategy?: 'keep_latest' | 'delete' } = {},
  ): Promise<void> {
    assertTexts('threadIds', threadIds);
    if (strategy !== 'keep_latest' && strategy !== 'delete')
      throw refused('strategy', 'it must be `keep_latest` or `delete`');
    if (threadIds.length === 0) return;
    if (strategy === 'delete') return forEach(threadIds, (id) => this.deleteThread(id));
    await forEach(threadIds, (id) => this.#keep(nameKey(id), newestContent));
    await this.#storage.scrub({ quick: true });
  }

  /**
   * Waits for calls in progress and closes the threads; later calls throw JOURNAL_CLOSED. The storage stays
   * open.
   */
  async close(): Promise<void> {
    await this.#threads.close();
  }

  get #values(): ValueStore {
    return new ValueStore(this.serde, this.#storage.redactor ?? null);
  }

  /** Serializes the arguments at once, before the caller can change them, and marks the thread as in use. */
  async #inOrder<T>(
    threadId: string,
    serialising: Promise<T>,
    work: (log: ThreadLog, serialised: T) => Promise<void>,
  ): Promise<void> {
    serialising.catch(() => {}); // reported below, unless the saver is closed
    await this.#threads.use(nameKey(threadId), async (log) => work(log, await serialising));
  }

  /** Erases everything else of a thread. Takes no lease if there is nothing to erase. */
  #keep(
    key: string,
    decide: (contents: ThreadContents, load: LoadMetadata) => Promise<KeptContent | null>,
  ): Promise<void> {
    return this.#threads.use(key, async (log) => {
      const load: LoadMetadata = (stored) => this.#values.load(stored, log.blobs);
      const index = await log.read();
      if (index.before().length === 0 && !(await decide(index.contents, load))) return;
      await replaceContent(log, this.#values, async (newest) => {
        const kept = await decide(newest.contents, load);
        return kept && { thread: threadOf(log, newest, key), source: { log, index: newest }, kept };
      });
    });
  }

  #tuple(threadId: string, ns: string, id: string | undefined): Promise<CheckpointTuple | undefined> {
    return this.#threads.use(nameKey(threadId), async (log) => {
      for (let attempt = 1; ; attempt += 1) {
        const index = await log.read();
        const entry = index.contents.checkpoint(ns, id);
        if (!entry) return undefined;
        try {
          const firstVersion = () => this.getNextVersion(undefined);
          return await readTuple({ log, index, values: this.#values, threadId, firstVersion }, entry);
        } catch (thrown) {
          // Another process may have deleted the thread just now; reading again tells.
          if (attempt > 1 || !isRekindleError(thrown)) throw thrown;
        }
      }
    });
  }

  async #listed(config: RunnableConfig, before: string | undefined): Promise<Listed[]> {
    const [threadId, ns, id] = [threadIdOf(config), listedNamespace(config), checkpointIdOf(config)];
    const keys = threadId === undefined ? await this.#threads.keys() : [nameKey(threadId)];
    const listed: Listed[] = [];
    for (const key of keys) {
      for (const one of await this.#threads.use(key, (log) => entriesOf(log, key, ns)))
        if ((id === undefined || one.entry.id === id) && (before === undefined || one.entry.id < before))
          listed.push(one);
    }
    return listed.sort((a, b) => (a.entry.id < b.entry.id ? 1 : a.entry.id > b.entry.id ? -1 : 0));
  }

  async #matches(
    threadId: string,
    { metadata }: CheckpointEntry,
    filter: Readonly<Record<string, unknown>>,
  ): Promise<boolean> {
    const loaded = await this.#threads.use(nameKey(threadId), (log) =>
      this.#values.load(metadata, log.blobs),
    );
    const has = new Map(Object.entries(Object(loaded) as object));
    return Object.entries(filter).every(([key, value]) => isDeepStrictEqual(has.get(key), value));
  }

  async #dumpWrite([channel, value]: PendingWrite, position: number) {
    assertText(`writes[${position}][0]`, channel);
    const idx = Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel]! : position;
    return { idx, channel, value: await this.#values.dump(value, `writes[${position}]`) };
  }
}

async function entriesOf(log: ThreadLog, key: string, ns: string | undefined): Promise<Listed[]> {
  const index = await log.read();
  const entries = index.contents.checkpoints(ns);
  if (entries.length === 0) return []; // of a deleted thread, the lease remains
  const threadId = threadOf(log, index, key);
  return entries.map((entry) => ({ threadId, entry }));
}

function threadOf(log: ThreadLog, { thread }: ThreadIndex, key: string): string {
  if (thread === null && key !== nameKey(key)) throw log.notThere(1); // the key is a digest, and the record with its id was lost
  return thread ?? key;
}

/** A failure in one place does not stop the others. @throws the first failure */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) await work(item).catch((thrown: unknown) => failures.push(thrown));
  if (failures.length > 0) throw failures[0];
}

function assertText(argument: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw refused(argument, 'it must be a string');
}

function assertTexts(argument: string, values: readonly unknown[]): void {
  if (!Array.isArray(values)) throw refused(argument, 'it must be a list of strings');
  for (const [index, value] of values.entries()) assertText(`${argument}[${index}]`, value);
}

function refused(argument: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${argument} is refused: ${problem}.`, {
    details: { argument, problem },
  });
}
