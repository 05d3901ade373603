/** Opens the memory of one agent for writing (under a lease) or for reading, and closes it again. */
import type { Clock } from '../core/clock.js';
import { isRekindleError, RekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { assertNotErasing } from '../storage/erasure/erasure-marker.js';
import type { Lease, LeaseOptions, StorageBackend } from '../storage/ports.js';
import { CompactionPolicy, type CompactionPolicyOptions } from './compaction/compaction-policy.js';
import { Compactor } from './compaction/compactor.js';
import { ExtractiveSummarizer } from './compaction/extractive-summarizer.js';
import type { Summarizer } from './compaction/summarizer.js';
import { O200kTokenCounter, type TokenCounter } from './compaction/token-counter.js';
import { SubjectFacts } from './facts/subject-facts.js';
import { MemoryManager } from './memory-manager.js';
import type { RecallOptions } from './recall/recaller.js';
import { type MemoryRetriever, Retriever } from './retrieval/retriever.js';
import { MEMORY_JOURNALS, type MemoryJournalName, MemoryStore } from './store/memory-store.js';
import { SNAPSHOT_FILE } from './store/working-context-snapshot-store.js';

/** Options of `openMemory`. All are optional. */
export interface MemoryOptions {
  /** Null turns compaction off. Default: the default policy with the offline summarizer. */
  readonly compaction?: CompactionPolicyOptions | null;
  readonly summarizer?: Summarizer;
  readonly tokenCounter?: TokenCounter;
  /** Automatic recall before a request. Null: none. Default: a tenth of the input budget. */
  readonly recall?: RecallOptions | null;
  readonly retriever?: (store: MemoryStore) => MemoryRetriever;
  /**
   * The subject, such as a person or a project, whose facts all agents of this scope share. A name. Only the host may
   * choose it; never take it from a model or a client.
   */
  readonly scope?: string;
  readonly leaseTtlMs?: number;
  /** Milliseconds to wait while the agent is open elsewhere. Default 0: LEASE_HELD at once. */
  readonly waitMs?: number;
  /** Ends the wait with ABORTED. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** An open memory. Close it to release the agent's lease. */
export interface OpenMemory {
  readonly memory: MemoryManager;
  /** Null if opened for reading. */
  readonly lease: Lease | null;
  /** Waits for saves, closes the journals, releases the lease. */
  close(): Promise<void>;
}

/**
 * Opens the memory of an agent under its lease; with `readOnly`, without a lease and without writing. Does not restore
 * the context: use `WorkingContextSnapshotBootstrapper`, or the agent API, for that.
 * ```ts
 * const { memory, close } = await openMemory(storage, 'ann', { waitMs: 5_000 });
 * ```
 * @throws LEASE_HELD, ABORTED, INVALID_NAME, INVALID_ARGUMENT for an unusable embedder, PATH_REFUSED
 */
export async function openMemory(
  backend: StorageBackend,
  agentId: string,
  options: MemoryOptions & { readonly readOnly?: boolean } = {},
): Promise<OpenMemory> {
  const { recall } = options;
  if (recall?.embedder) (await import('./recall/embedder.js')).assertEmbedder(recall);
  const subject = options.scope === undefined ? null : new SubjectFacts(backend, options.scope);
  const lease = options.readOnly
    ? null
    : await backend.leases.acquire(['agents', agentId], leaseOptions(options));
  try {
    // Both only read: on a store far away, they wait for their answers at the same time.
    const isWhole = lease ? assertNoHalfCopy(backend, agentId) : Promise.resolve();
    isWhole.catch(() => {}); // an erasure is reported first
    await assertNotErasing(backend, ['agents', agentId]);
    await isWhole;
    if (lease)
      for (const scope of [
        ['agents', agentId],
        ['agents', agentId, 'artifacts'],
      ])
        await backend.sweep(scope);
  } catch (thrown) {
    await lease?.release().catch(() => {}); // the first error is the one to report
    throw thrown;
  }
  const store = new MemoryStore(backend, agentId, lease, subject);
  const retriever = options.retriever?.(store) ?? new Retriever(store);
  const memory = new MemoryManager({
    store,
    retriever,
    compactor: options.compaction === null ? null : compactorFor(options, retriever),
    ...(options.recall === undefined ? {} : { recall: options.recall }),
    ...(options.clock ? { clock: options.clock } : {}),
  });
  const close = async () => {
    try {
      await memory.close();
    } finally {
      await lease?.release();
    }
  };
  return { memory, lease, close };
}

function leaseOptions(options: MemoryOptions): LeaseOptions {
  const { leaseTtlMs } = options;
  return { ...(leaseTtlMs === undefined ? {} : { ttlMs: leaseTtlMs }), ...waitOptions(options) };
}

/** The options that say how to wait for an agent. */
export function waitOptions({
  waitMs,
  signal,
}: Pick<MemoryOptions, 'waitMs' | 'signal'>): Pick<MemoryOptions, 'waitMs' | 'signal'> {
  return { ...(waitMs === undefined ? {} : { waitMs }), ...(signal === undefined ? {} : { signal }) };
}

function compactorFor(options: MemoryOptions, retriever: MemoryRetriever): Compactor {
  return new Compactor({
    policy: new CompactionPolicy(options.compaction ?? {}),
    summarizer: options.summarizer ?? new ExtractiveSummarizer(),
    counter: options.tokenCounter ?? new O200kTokenCounter(),
    retriever,
  });
}

/** What an unfinished agent starts from. The file exists until its first trace is written. */
const BEGINNING_FILE = 'beginning.json';

/**
 * From now on the agent is being created. It does not exist before its first trace; a copy not before `endBeginning`.
 * Durable when it resolves.
 */
export async function noteBeginning(
  backend: StorageBackend,
  agentId: string,
  from: string,
  { copied = false }: { readonly copied?: boolean } = {},
): Promise<void> {
  await backend.documents.write(['agents', agentId, BEGINNING_FILE], copied ? { from, copied } : { from });
}

export async function endBeginning(backend: StorageBackend, agentId: string): Promise<void> {
  await backend.documents.delete(['agents', agentId, BEGINNING_FILE]);
}

/** What an agent was to start from, if a crash prevented its first trace, or the end of a copy; null otherwise. */
export async function unfinishedBeginning(backend: StorageBackend, agentId: string): Promise<string | null> {
  const beginning = await readBeginning(backend, agentId);
  if (!beginning) return null;
  return beginning.copied || !(await hasTraces(backend, agentId)) ? beginning.from : null;
}

interface Beginning {
  readonly from: string;
  /** A copy does not count as the agent until it is complete, though it may have traces. */
  readonly copied: boolean;
  /** The token of an import. */
  readonly importToken: string | null;
}

async function readBeginning(backend: StorageBackend, agentId: string): Promise<Beginning | null> {
  const document = await backend.documents.read(['agents', agentId, BEGINNING_FILE]);
  if (!document) return null;
  const { from = '', copied, import_token: token } = document.value as JsonObject;
  const importToken = typeof token === 'string' ? token : null;
  return { from: String(from), copied: copied === true || importToken !== null, importToken };
}

/** From now on, until `endBeginning`, the agent is half of a transcript and cannot be opened. Durable when it resolves. */
export async function noteImport(backend: StorageBackend, agentId: string, token: string): Promise<void> {
  const beginning = { from: 'a transcript', import_token: token };
  await backend.documents.write(['agents', agentId, BEGINNING_FILE], beginning);
}

/** The prefix of the ids of an interrupted import; null if there was none. */
export async function unfinishedImport(backend: StorageBackend, agentId: string): Promise<string | null> {
  return (await readBeginning(backend, agentId))?.importToken ?? null;
}

/** A partial copy or import would look like the whole agent. @throws AGENT_EXISTS */
async function assertNoHalfCopy(backend: StorageBackend, agentId: string): Promise<void> {
  const beginning = await readBeginning(backend, agentId);
  if (!beginning?.copied) return;
  const what = beginning.importToken === null ? 'copy of the agent' : 'import of a transcript as the agent';
  const text = `The ${what} ${JSON.stringify(agentId)} to this place was not finished. Repeat it.`;
  throw new RekindleError('AGENT_EXISTS', text, { details: { agentId, from: beginning.from } });
}

/** A fork's journal may have a number to continue from, and no record yet. */
async function hasTraces(backend: StorageBackend, agentId: string): Promise<boolean> {
  const journal = await backend.openJournal(['agents', agentId, 'raw_traces'], { readOnly: true });
  try {
    return (await journal.head()).cursor !== null || journal.openingDamage().length > 0;
  } finally {
    await journal.close();
  }
}

/** True if anything of this agent is stored, unless it is an unfinished start. Writes nothing. */
export async function agentExists(backend: StorageBackend, agentId: string): Promise<boolean> {
  if (await hasSnapshot(backend, agentId)) return true;
  if (!(await hasRecords(backend, agentId, MEMORY_JOURNALS))) return false;
  return (await unfinishedBeginning(backend, agentId)) === null;
}

/** A folder or an unreadable file does not count as a snapshot: the journals show whether there is an agent. */
async function hasSnapshot(backend: StorageBackend, agentId: string): Promise<boolean> {
  try {
    return (await backend.documents.modifiedMs(['agents', agentId, SNAPSHOT_FILE])) !== null;
  } catch (thrown) {
    if (isRekindleError(thrown, 'PATH_REFUSED') && (await hasRecords(backend, agentId, MEMORY_JOURNALS)))
      return true;
    throw thrown;
  }
}

async function hasRecords(
  backend: StorageBackend,
  agentId: string,
  journals: readonly MemoryJournalName[],
): Promise<boolean> {
  for (const name of journals) {
    const journal = await backend.openJournal(['agents', agentId, name], { readOnly: true });
    try {
      if ((await journal.head()).seq > 0 || journal.openingDamage().length > 0) return true;
    } finally {
      await journal.close();
    }
  }
  return false;
}

export async function assertAgentExists(backend: StorageBackend, agentId: string): Promise<void> {
  if (!(await agentExists(backend, agentId))) throw agentNotFound(agentId);
}

export function agentNotFound(agentId: string): RekindleError {
  return new RekindleError('AGENT_NOT_FOUND', `There is no agent ${JSON.stringify(agentId)} here.`, {
    details: { agentId },
  });
}

export async function assertAgentIsNew(backend: StorageBackend, agentId: string): Promise<void> {
  const from = await unfinishedBeginning(backend, agentId);
  if (from !== null)
    throw new RekindleError(
      'AGENT_EXISTS',
      `The agent ${JSON.stringify(agentId)} was being created from ${from}, which was not finished. Repeat that.`,
      { details: { agentId, from } },
    );
  if (!(await agentExists(backend, agentId))) return;
  throw new RekindleError('AGENT_EXISTS', `The agent ${JSON.stringify(agentId)} exists already.`, {
    details: { agentId },
  });
}
