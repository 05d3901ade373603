/** Repairs an agent's stored data on request: clean copies of damaged journals, and a new cache. Old files are kept. */
import type { SegmentRepair, StorageBackend } from '../../storage/ports.js';
import type { MemoryManager } from '../memory-manager.js';
import { assertOwner, assertReadable, headerOf } from '../models/journal-header.js';
import { assertAgentExists, openMemory } from '../open-memory.js';
import type { RestoreReport } from '../restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  WorkingContextSnapshotBootstrapper,
} from '../restore/working-context-snapshot-bootstrapper.js';
import { MEMORY_JOURNALS } from '../store/memory-store.js';
import type { SavedSnapshot } from '../store/working-context-snapshot-store.js';

/** What `repairAgent` repaired. */
export interface RepairReport {
  readonly agentId: string;
  readonly journals: readonly SegmentRepair[];
  readonly restore: RestoreReport;
  /** Null if the cache could not be written. */
  readonly snapshot: SavedSnapshot | null;
}

/**
 * Replaces damaged journals by clean copies and rewrites the cache. Keeps the damaged files. Durable when it resolves.
 * @throws AGENT_NOT_FOUND, LEASE_HELD, CONTEXT_BLANK, ...
 */
export async function repairAgent(backend: StorageBackend, agentId: string): Promise<RepairReport> {
  return mend(backend, agentId, { repairJournals: true, ignoreCache: false });
}

/** Rebuilds the cache from the journals alone. */
export async function rebuildAgent(backend: StorageBackend, agentId: string): Promise<RepairReport> {
  return mend(backend, agentId, { repairJournals: false, ignoreCache: true });
}

/**
 * The cache still contains a record that was damaged in the journal. From here on the context starts from a copy of the
 * cached list.
 */
async function keepWhatTheCacheHas(memory: MemoryManager): Promise<void> {
  await memory.repairList({
    kind: 'base',
    reason: 'the journal was repaired',
    messages: memory.getWorkingContextMessages(),
    epochId: memory.epochId,
    lastCompactionTs: memory.lastCompactionTs,
    lastTurn: memory.lastTurn,
  });
}

/** A journal of a newer release, or of another agent, is not repaired. @throws UNSUPPORTED_VERSION, AGENT_FOREIGN */
async function assertOurs({ store, agentId }: MemoryManager): Promise<void> {
  let owner: string | null = null;
  for await (const entry of (await store.journal('raw_traces')).read()) {
    const header = entry.kind === 'record' ? headerOf(entry.record) : null;
    if (header) assertReadable(header.reader, agentId);
    owner = header?.agentId ?? owner;
  }
  assertOwner(owner, agentId);
}

async function mend(
  backend: StorageBackend,
  agentId: string,
  options: { readonly repairJournals: boolean; readonly ignoreCache: boolean },
): Promise<RepairReport> {
  await assertAgentExists(backend, agentId);
  const opened = await openMemory(backend, agentId, { compaction: null });
  const { memory } = opened;
  try {
    await assertOurs(memory);
    const journals: SegmentRepair[] = [];
    if (options.repairJournals) {
      for (const name of MEMORY_JOURNALS)
        journals.push(...(await (await memory.store.journal(name)).repair()));
    }
    const restoreOptions = new WorkingContextSnapshotBootstrapOptions({ ignoreCache: options.ignoreCache });
    const restore = await new WorkingContextSnapshotBootstrapper().bootstrap(memory, null, restoreOptions);
    if (restore.source.startsWith('cache') && journals.some(({ place }) => place.startsWith('raw_traces.'))) {
      await keepWhatTheCacheHas(memory);
    }
    return { agentId, journals, restore, snapshot: await memory.persistWorkingContextSnapshot() };
  } finally {
    await opened.close();
  }
}
