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

export interface MemoryOptions {
  /** Null turns compaction off. Default: the seed's policy with the offline summarizer. */
  readonly compaction?: CompactionPolicyOptions | null;
  readonly summarizer?: Summarizer;
  readonly tokenCounter?: TokenCounter;
  /** What comes back by itself before a request. Null: nothing. Default: a tenth of the input budget. */
  readonly recall?: RecallOptions | null;
  readonly retriever?: (store: MemoryStore) => MemoryRetriever;
  /**
   * The subject, such as a person or a project, whose facts all agents of this scope share. A name; only the host gives it, never text of
   * a model or a client.
   */
  readonly scope?: string;
  readonly leaseTtlMs?: number;
  /** How long to wait, in line, while the agent is open elsewhere, in milliseconds. Default 0: LEASE_HELD at once. */
  readonly waitMs?: number;
  /** Ends that wait with ABORTED. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

export interface OpenMemory {
  readonly memory: MemoryManager;
  /** Null when opened for reading. */
  readonly lease: Lease | null;
  /** Waits for saves, closes the journals, releases the lease. */
  close(): Promise<void>;
}

/** @throws LEASE_HELD, ABORTED, INVALID_NAME, PATH_REFUSED */
export async function openMemory(
  backend: StorageBackend,
  agentId: string,
  options: MemoryOptions & { readonly readOnly?: boolean } = {},
): Promise<OpenMemory> {
  const subject = options.scope === undefined ? null : new SubjectFacts(backend, options.scope);
  const lease = options.readOnly
    ? null
    : await backend.leases.acquire(['agents', agentId], leaseOptions(options));
  try {
    await assertNotErasing(backend, ['agents', agentId]);
    if (lease) await assertNoHalfCopy(backend, agentId);
    if (lease)
      for (const scope of [
        ['agents', agentId],
        ['agents', agentId, 'artifacts'],
      ])
        await backend.sweep(scope);
  } catch (thrown) {
    await lease?.release().catch(() => {}); // the first error is the one to tell
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

/** The part of options that says how to wait for an agent. */
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

/** What an agent begins from that is not finished: there while its first trace is not. */
const BEGINNING_FILE = 'beginning.json';

/** From now on the agent is being written, and does not exist before its first trace; a copy not before `endBeginning`. Durable when it resolves. */
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

/** What an agent was to begin from, when a crash kept it from its first trace, or a copy from its end; null otherwise. */
export async function unfinishedBeginning(backend: StorageBackend, agentId: string): Promise<string | null> {
  const beginning = await readBeginning(backend, agentId);
  if (!beginning) return null;
  return beginning.copied || !(await hasTraces(backend, agentId)) ? beginning.from : null;
}

interface Beginning {
  readonly from: string;
  /** It is not the agent before it is whole, though it may have traces. */
  readonly copied: boolean;
  /** Of an import. */
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

/** What the ids of an import that was interrupted begin with; null where none was. */
export async function unfinishedImport(backend: StorageBackend, agentId: string): Promise<string | null> {
  return (await readBeginning(backend, agentId))?.importToken ?? null;
}

/** Half a copy, or half a transcript, would pass for the whole agent. @throws AGENT_EXISTS */
async function assertNoHalfCopy(backend: StorageBackend, agentId: string): Promise<void> {
  const beginning = await readBeginning(backend, agentId);
  if (!beginning?.copied) return;
  const what = beginning.importToken === null ? 'copy of the agent' : 'import of a transcript as the agent';
  const text = `The ${what} ${JSON.stringify(agentId)} to this place was not finished. Repeat it.`;
  throw new RekindleError('AGENT_EXISTS', text, { details: { agentId, from: beginning.from } });
}

function hasTraces(backend: StorageBackend, agentId: string): Promise<boolean> {
  return hasRecords(backend, agentId, ['raw_traces']);
}

/** True when anything of this agent is stored, but one that was begun and not finished. Writes nothing. */
export async function agentExists(backend: StorageBackend, agentId: string): Promise<boolean> {
  if (await hasSnapshot(backend, agentId)) return true;
  if (!(await hasRecords(backend, agentId, MEMORY_JOURNALS))) return false;
  return (await unfinishedBeginning(backend, agentId)) === null;
}

/** Something that is no file, or that nobody may look at, is no snapshot: the journals say whether there is an agent. */
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
      `The agent ${JSON.stringify(agentId)} was to begin from ${from}, and that was not finished. Begin it from there again.`,
      { details: { agentId, from } },
    );
  if (!(await agentExists(backend, agentId))) return;
  throw new RekindleError('AGENT_EXISTS', `The agent ${JSON.stringify(agentId)} exists already.`, {
    details: { agentId },
  });
}
